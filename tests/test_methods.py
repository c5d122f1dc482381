"""Every registered method by the checks that ``dmlplayground check`` makes of anybody's: against its slow reference and against
what mathematics demands of any loss.

Nothing here names a method: a file in dmlplayground/parts/methods with a reference of the same name is tested by
being there.
"""

import warnings
from pathlib import Path

import pytest
import reference
from mxnet import nd

from dmlplayground import methods
from dmlplayground.base.errors import UserError
from dmlplayground.trial.conformance import Skip, checks_of

KEYS = methods.names()
CHECKS = [check for check in checks_of("methods") if "training" not in check.__name__]


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


def test_a_miner_is_given_as_mining():
    with pytest.raises(UserError, match=r"as mining=\.\.\., not as miner"):
        methods.loss("triplet", num_classes=3, embed_dim=4, miner="hard")


def test_a_ready_loss_is_not_drawn_again_and_says_nothing():
    loss = methods.loss("margin", num_classes=3, embed_dim=4)
    loss.collect_params().setattr("grad_req", "write")
    loss.beta.set_data(nd.ones_like(loss.beta.data()) * 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss.initialize()
    assert (loss.beta.data().asnumpy() == 7).all()
    loss.initialize(force_reinit=True)
    assert not (loss.beta.data().asnumpy() == 7).any()
