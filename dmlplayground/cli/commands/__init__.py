"""One file a command; see the package above."""
