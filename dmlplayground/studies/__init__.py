"""What a study is: its recipes and its published tables."""

__all__: list[str] = []
