"""Every registered method by the checks that ``dmlplayground check`` makes of anybody's: against its slow reference and against
what mathematics demands of any loss.

Nothing here names a method: a file in dmlplayground/parts/methods with a reference of the same name is tested by
being there.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import reference

from dmlplayground import methods
from dmlplayground.trial.conformance.methods import CHECKS
from dmlplayground.trial.conformance.outcomes import Skip

KEYS = methods.names()


def test_every_method_has_a_reference_and_every_reference_a_method():
    files = [file for folder in reference.__path__ for file in Path(folder).glob("*.py")]
    assert sorted(file.stem for file in files if "\ndef value(" in file.read_text()) == KEYS


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_method(check, key):
    try:
        check(key)
    except Skip as reason:
        pytest.skip(str(reason))
