"""One file a network or family; see the package above. MXNet is imported where a network is built, so that listing them
all needs none."""

__all__: list[str] = []  # what its files hold is found by their names
