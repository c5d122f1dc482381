"""What a trial is (``config``), what it leaves behind (``store``) and how it runs (``training``)."""

__all__: list[str] = []
