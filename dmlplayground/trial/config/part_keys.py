"""Which kind of part each key of a configuration names."""

from ...base.registry import Kind, kind

#: The parts of a trial that says nothing of them, and that neither its method nor its data set chooses.
NEUTRAL = {
    "data": "glyphs",
    "backbone": "conv4",
    "sampler": "shuffled",
    "transform": "paper",
    "optimizer": "adam",
    "schedule": "step",
    "protocol": "paper",
}


# A kind is listed by its key in the plural, or by another word.
LISTED = {"data": "data", "mining": "miners", "regularizers": "regularizers"}


def of(key: str) -> Kind:
    """The kind of part that the configuration's ``key`` chooses."""
    return kind(LISTED.get(key, f"{key}s"))
