"""One file for each network or family; see the package above. MXNet is imported only when a network is built, so that
listing them does not need it."""

__all__: list[str] = []  # what its files hold is found by their names
