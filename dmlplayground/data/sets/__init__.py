"""One file a data set; see the package above."""

__all__: list[str] = []  # what its files hold is found by their names
