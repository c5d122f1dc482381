"""Every public name says what it is, and shows it by an example that runs.

Public is what ``dmlplayground.__all__`` names, and what the modules among these name in turn.
"""

import doctest
import importlib.resources
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

import dmlplayground as dml

#: A trial of a second or two, for the examples that need one.
TINY = {
    "method": "npairs",
    "data": {"name": "glyphs", "classes": 16, "images_per_class": 9, "size": 24},
    "embed_dim": 8,
    "batch_size": 4,
    "iterations": 1,
    "epochs": 1,
    "evaluation": {"clustering": False, "ks": [1]},
}
PACKAGES = sorted(
    module.name for module in pkgutil.walk_packages(dml.__path__, f"{dml.__name__}.") if module.ispkg
)


def public() -> Iterator[tuple[str, object]]:
    """Every public class, function and module by its dotted name."""
    for name in dml.__all__:
        found = getattr(dml, name)
        if isinstance(found, ModuleType):
            yield name, found
            yield from ((f"{name}.{inner}", getattr(found, inner)) for inner in found.__all__)
        elif callable(found):
            yield name, found


PUBLIC = {
    name: found
    for name, found in public()
    if isinstance(found, ModuleType) or inspect.isclass(found) or inspect.isroutine(found)
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What every example may use: ``dml``, ``np``, ``mx``, and a trained ``trial`` in its ``store``."""
    import mxnet as mx

    store = tmp_path_factory.mktemp("store")
    record = dml.train(TINY, store)
    return {"dml": dml, "np": np, "mx": mx, "store": store, "trial": store / record.id, "tiny": TINY}


@pytest.mark.parametrize("package", [dml.__name__, *PACKAGES])
def test_every_package_says_what_is_public(package):
    module = importlib.import_module(package)
    assert module.__doc__, package
    inside = {part.name for part in pkgutil.iter_modules(module.__path__)}
    assert [name for name in module.__all__ if name not in inside and not hasattr(module, name)] == []


def test_types_are_shipped():
    assert (importlib.resources.files(dml) / "py.typed").is_file()


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example_that_runs(name, shared):
    found = PUBLIC[name]
    told = inspect.getdoc(found)
    assert told, f"{name} has no docstring"
    if isinstance(found, ModuleType):
        return
    home = vars(sys.modules[found.__module__]) if found.__module__ in sys.modules else {}
    test = doctest.DocTestParser().get_doctest(told, {**home, **shared}, name, None, 0)
    assert any(not example.options.get(doctest.SKIP) for example in test.examples), f"{name} has no example"
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
