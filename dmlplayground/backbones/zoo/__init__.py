"""One file a network or family; see the package above."""
