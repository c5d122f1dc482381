"""Trained weights: where to get them (``sources``), how to read them (``formats``, ``parameter_names``), and how to put them
into a network (``loading``, ``conversion``)."""

__all__ = ["conversion", "formats", "loading", "parameter_names", "sources", "torch_files"]
