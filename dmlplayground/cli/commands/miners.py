"""Which miner works with which loss."""

from ...base import layout

EXAMPLE = "miners semihard"


def about_all() -> list[str]:
    from ...parts import methods

    rows = [("method", "own miner", "miners", "with a memory")]
    for key, found in methods.combinations().items():
        rows.append((key, found.own, _few_words(found.miners), _few_words(found.with_memory)))
    return ["Which works with which:", layout.columns(rows)]


def _few_words(names: tuple[str, ...]) -> str:
    """``all``, ``none``, or ``all but`` and the missing ones."""
    from ...parts import miners

    missing = [name for name in miners.names() if name not in names]
    if not names or not missing:
        return "none" if missing else "all"
    return f"all but {', '.join(missing)}"


def about_one(name: str) -> list[str]:
    from ...parts import methods

    found = methods.combinations()
    takers = {
        "Losses that accept it:": [key for key, each in found.items() if name in each.miners],
        "With a memory (memory.size):": [key for key, each in found.items() if name in each.with_memory],
    }
    return [f"{heading}\n{layout.fill(', '.join(keys) or 'none', '  ')}" for heading, keys in takers.items()]
