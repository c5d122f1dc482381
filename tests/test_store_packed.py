"""A store in one file: read like the store, the same bytes for the same records, damage named."""

import pytest
import reports_fixture as fixture

from dmlplayground.base.errors import UserError
from dmlplayground.trial.store import locks, packed, records


@pytest.fixture
def store(tmp_path):
    for seed in range(3):
        record = fixture.record("margin", seed)
        record.save(tmp_path / "store" / record.id)
    return tmp_path / "store"


def test_a_packed_store_is_read_like_the_store(store, tmp_path):
    path = records.pack(store, tmp_path / "kept")
    whole = records.load_store(store)
    for source in (tmp_path / "kept", path):
        found = records.load_store(source)
        assert [(one.id, one.config, one.epochs, one.results) for one in found] == [
            (one.id, one.config, one.epochs, one.results) for one in whole
        ]
    assert records.find(tmp_path / "kept" / whole[0].id).status == "finished"
    assert records.find(tmp_path / "kept" / "another") is None


def test_the_same_records_are_the_same_bytes(store, tmp_path):
    one = records.pack(store, tmp_path / "one").read_bytes()
    assert records.pack(tmp_path / "one", tmp_path / "two").read_bytes() == one


def test_a_folder_counts_before_the_file_and_what_runs_is_left_out(store, tmp_path):
    first, second, _ = records.load_store(store)
    records.pack(store, store)
    first.status = "failed"
    first.save(store / first.id)
    assert records.find(store / first.id).status == "failed"
    second.status = "interrupted"
    second.save(store / second.id)
    assert len(records.load_store(records.pack(store, tmp_path / "kept"))) == 2


def test_a_damaged_file_is_named(store):
    (store / packed.FILE).write_bytes(b"half")
    found, problems = records.survey(store)
    assert len(found) == 3 and "not a file of packed records" in problems[0]
    with pytest.raises(UserError, match="cannot be packed"):
        records.pack(store, store)


def test_of_the_system_the_name_alone_is_packed(store, tmp_path):
    record = records.load_store(store)[0]
    record.machine["system"] = "Linux-5.15-somebodys-own-kernel"
    record.save(store / record.id)
    assert (
        records.find(records.pack(store, tmp_path / "kept").parent / record.id).machine["system"] == "Linux"
    )


def test_what_runs_but_is_held_by_no_process_was_interrupted(tmp_path):
    record = fixture.record("margin", 0)
    record.status = "running"
    record.save(tmp_path / record.id)
    assert records.find(tmp_path / record.id).status == "interrupted"
    with locks.hold(tmp_path / record.id):
        assert records.find(tmp_path / record.id).status == "running"
