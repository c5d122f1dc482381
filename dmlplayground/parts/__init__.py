"""What a trial is put together from: a folder a kind of part, a file a part. Helpers of a kind are in its ``shared/``."""

__all__: list[str] = []
