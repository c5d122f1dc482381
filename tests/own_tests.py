"""Which parts have a test file of their own, as ``dmlplayground new`` writes it; the others are tested together."""

from pathlib import Path

from dmlplayground.base import registry

TESTS = Path(__file__).parent


def without_own_test(plural: str) -> set[str]:
    """The parts of a kind that must be in the tests of the kind."""
    kind = registry.kind(plural)
    files = {name: kind.get(name).build.__module__.rpartition(".")[2] for name in kind.names()}
    return {name for name, file in files.items() if not (TESTS / f"test_{plural}_{file}.py").exists()}
