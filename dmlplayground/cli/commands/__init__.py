"""One file for each command; see the package above."""

__all__: list[str] = []  # what its files hold is found by their names
