"""What the parts of this folder have in common."""

__all__: list[str] = []
