"""``dmlplayground fit``: from a folder of images to a trained search. Each file is one step of it: ``look`` at the
images, ``choose`` a configuration for them, tell how long it takes (``timing``)."""

__all__ = ["choose", "look", "timing"]
