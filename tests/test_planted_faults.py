"""Faults that were planted once and that no test saw: each has a test of what it breaks."""

import dataclasses
import io

import numpy as np
import pytest
import reports_fixture as fixture
from data_fixture import class_folders

from dmlplayground import config, data, protocols
from dmlplayground.base import files
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data.shared import catalogue, decoded_cache
from dmlplayground.parts.transforms import Stored
from dmlplayground.reports.grouping import arenas
from dmlplayground.trial.config import trial_ids
from dmlplayground.trial.training import folds, models


def another(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, list):
        return [*value, 7]
    return 7 if value is None else {**value, "other": 1}


def leaves(content, place=()):
    for key, value in content.items():
        if isinstance(value, dict) and value and key != "groups":
            yield from leaves(value, (*place, key))
        elif key not in ("groups", "name"):
            yield (*place, key)


TRIAL = config.building.unchecked({"method": "npairs", "memory": {"size": 64}})


@pytest.mark.parametrize("place", list(leaves(TRIAL.mapping())), ids=".".join)
def test_every_key_of_a_trial_is_in_its_id(place):
    first, *rest = place
    value = getattr(TRIAL, first)
    if rest:
        old = value[rest[0]] if isinstance(value, dict) else getattr(value, rest[0])
        new = {rest[0]: another(old)}
        changed = {**value, **new} if isinstance(value, dict) else dataclasses.replace(value, **new)
    else:
        parts = {
            "mining": {"name": "semihard"},
            "regularizers": [{"name": "zero_mean"}],
            "parts": [{"file": "own.py", "sha256": 64 * "0"}],
        }
        changed = parts.get(first) or another(value)
    other = dataclasses.replace(TRIAL, **{first: changed})
    assert (trial_ids.name(other) != trial_ids.name(TRIAL)) == (first != "device")


def test_folds_are_joined_at_unit_length():
    random = np.random.default_rng(0)
    parts = [random.normal(size=(5, 3)) * size for size in (1.0, 50.0)]
    joined = models.join(TRIAL, parts, [0, 1])
    assert np.linalg.norm(joined[:, :3], axis=1) == pytest.approx(np.ones(5))
    assert np.linalg.norm(joined[:, 3:], axis=1) == pytest.approx(np.ones(5))
    members = models.join(TRIAL, parts, [0, 0])  # of one model: as they are
    assert np.array_equal(members, np.concatenate(parts, axis=1))


def test_boxes_decide_which_pixels_a_cache_holds(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    folder = class_folders(tmp_path / "own", list("ab"), per_class=2)
    files = tuple(str(path.relative_to(folder)) for path in sorted(folder.rglob("*.*")))
    found = []
    for box in ([0, 0, 8, 8], [4, 4, 8, 8]):
        given = catalogue.Catalogue(
            "boxed", "train", folder, files, np.array([0, 0, 1, 1]), ("a", "b"), np.array([box] * 4)
        )
        found.append(decoded_cache.images(given, Stored("squash", 8)))
    assert not np.array_equal(found[0][:], found[1][:])


def test_validation_images_are_prepared_like_test_images(tmp_path, monkeypatch):
    trial = config.trial(
        {"method": "npairs", "transform": "released", "protocol": "validated", "data": {"name": "glyphs"}}
    )
    asked = []
    load = data.load

    def listening(name, split="train", *, stored, **options):
        asked.append((split, stored))
        return load(name, split, stored=Stored("none"), classes=16, images_per_class=2, size=16)

    monkeypatch.setattr(folds.data, "load", listening)
    kept = folds.kept_back(trial)
    from dmlplayground import transforms

    made = transforms.create(**trial.transform)
    assert kept and made.stored != made.stored_for_test
    assert asked == [("train", made.stored_for_test)]


@pytest.mark.parametrize("name", [name for name in protocols.names() if protocols.get(name).options])
def test_what_a_protocol_calls_comparable_parts_arenas(name):
    """What chose the epoch decides which scores may be compared."""
    assert ("criterion" in protocols.get(name).comparable) == (
        "criterion" in protocols.get(name).options and protocols.get(name).leading != "maximum"
    )
    if name == "paper":
        made = [fixture.record(seed=seed) for seed in (0, 1)]
        made[1].config["protocol"]["criterion"] = "MAP@R"
        assert len(arenas(made)) == 2


@pytest.mark.parametrize("key", ["batch_size", "iterations", "ensemble.members"])
def test_true_is_not_a_whole_number(key):
    with pytest.raises(UserError, match=f"{key} must be a whole number.*not True"):
        config.trial({"method": "npairs"}, [f"{key}=true"])


def test_a_file_that_was_replaced_may_be_read_by_others(tmp_path):
    """What it is written through is private, as temporary files are."""
    (tmp_path / "usual").touch()
    files.write_json(tmp_path / "written", {})
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_a_copy_of_more_than_the_most_is_noticed(size):
    """Also where the most is what is copied at a time."""
    assert (files.copy(io.BytesIO(bytes(size)), io.BytesIO(), 1 << 20) > 1 << 20) == (size > 1 << 20)
