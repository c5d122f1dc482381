"""``dmlplayground fit``: from a folder of images to a search that is no worse than the network it began with.

``look`` at the images, ``choose`` what to try on them, climb the ``ladder`` of steps, each judged by ``serving.judge``, and write
a ``page``.
"""

__all__: list[str] = []
