"""Images decoded once: the packed cache, what it depends on, and what becomes of it when things go wrong."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from data_fixture import class_folders, picture

from dmlplayground import data
from dmlplayground.base import files, threads
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data.shared import decoded_cache, decoding, images
from dmlplayground.parts.transforms import Stored

WAYS = [Stored("squash", 48), Stored("short", 40), Stored("none")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    return class_folders(tmp_path / "own", list("abcd"), per_class=4)


def load(folder, split="train", *, stored=WAYS[0], **options) -> data.Dataset:
    return data.load("folder", split, path=str(folder), stored=stored, **options)


def made(tmp_path) -> list[Path]:
    """The entries of the cache; nothing else is ever left there but locks."""
    places = [path for path in (tmp_path / "cache" / "images").iterdir() if path.suffix != ".lock"]
    assert not any(path.name.startswith(".") for path in places)
    return sorted(places)


# The look of an array


@pytest.mark.parametrize("stored", WAYS)
@pytest.mark.parametrize("cache", ["disk", "none"])
def test_rows_slices_and_masks(folder, stored, cache):
    dataset = load(folder, stored=stored, cache=cache)
    found = dataset.images
    assert len(found) == found.shape[0] == 8 and found.dtype == np.uint8 and found.ndim == 4
    one = found[3]
    assert one.ndim == 3 and np.array_equal(one, found[-5]) and np.array_equal(one, found[np.int64(3)])
    with pytest.raises(IndexError):
        found[8]
    assert np.array_equal(found[3:4], one[None])
    if stored.resize == "squash":
        assert found.shape == (8, 48, 48, 3) == np.asarray(found).shape
        assert np.array_equal(found[[3, 0]], np.stack([one, found[0]]))
        assert np.array_equal(found[dataset.labels == 1], np.asarray(found)[4:])
        assert found[[]].shape == (0, 48, 48, 3)
    else:
        assert None in found.shape
        with pytest.raises(UserError, match="different sizes"):
            found[:]


@pytest.mark.parametrize("stored", WAYS)
def test_from_the_cache_and_from_the_files_the_pixels_are_the_same(folder, stored):
    cached, live = (load(folder, "test", stored=stored, cache=cache) for cache in ("disk", "none"))
    assert isinstance(cached.images, images.Packed) and isinstance(live.images, decoding.Live)
    assert np.array_equal(cached.labels, live.labels) and cached.class_names == live.class_names
    for row in range(len(cached)):
        assert np.array_equal(cached.images[row], live.images[row])


@pytest.mark.parametrize("stored", WAYS)
def test_parts_of_parts_are_views(folder, stored):
    whole = load(folder, stored=stored)
    part = data.load("folder", path=str(folder), train=0.75, stored=stored).subset([2, 0]).subset([1])
    assert part.class_names == ("a",) and isinstance(part.images.images, images.Packed)
    assert [part.images[row].tobytes() for row in range(4)] == [
        whole.images[row].tobytes() for row in range(4)
    ]


def test_images_cannot_be_written_to(folder):
    with pytest.raises(ValueError, match="read-only"):
        load(folder).images[0][:] = 0


# What an entry depends on


def test_an_entry_is_made_once_and_used_by_whoever_has_the_same_files(folder, tmp_path, capsys):
    first = load(folder)
    assert "decoding 8 images of folder (train), 48 x 48 pixels, once: 0.1 MB in" in capsys.readouterr().err
    moved = tmp_path / "moved"
    folder.rename(moved)
    again = load(moved)
    assert len(made(tmp_path)) == 1 and capsys.readouterr().err == ""
    assert np.array_equal(first.images, again.images)


def test_files_that_only_look_newer_are_not_decoded_again(folder, tmp_path, capsys):
    first = load(folder)
    capsys.readouterr()
    for path in folder.rglob("*.jpg"):
        os.utime(path, (1, 1))
    again = load(folder)
    assert len(made(tmp_path)) == 1 and capsys.readouterr().err == ""
    assert np.array_equal(first.images, again.images)


def test_other_content_or_storage_makes_another_entry(folder, tmp_path):
    before = load(folder)
    pixels = np.array(before.images[0])
    load(folder, stored=Stored("squash", 48, "area"))
    assert len(made(tmp_path)) == 2
    path = folder / "a" / "0.jpg"
    size = path.stat().st_size
    picture(path, 77, (40, 30), quality=60)
    with path.open("ab") as file:
        file.write(b"\0" * (size - path.stat().st_size))
    assert path.stat().st_size == size, "of the same size, so that only the time tells them apart"
    after = load(folder)
    assert len(made(tmp_path)) == 3 and not np.array_equal(after.images[0], pixels)


@pytest.mark.parametrize("stored", WAYS)
@pytest.mark.parametrize("left", [0, 200])
def test_broken_images_are_all_reported_and_nothing_is_left(folder, tmp_path, stored, left):
    for name in ("a/1.jpg", "b/2.jpg"):
        (folder / name).write_bytes((folder / name).read_bytes()[:left])
    with pytest.raises(UserError, match="2 of 8 images cannot be used") as caught:
        load(folder, stored=stored)
    assert "a/1.jpg" in str(caught.value) and "b/2.jpg" in str(caught.value)
    assert not made(tmp_path)


def test_a_damaged_entry_is_made_anew(folder, tmp_path):
    pixels = np.array(load(folder).images)
    (entry,) = made(tmp_path)
    for name in ("pixels.npy", "sizes.npy", "checksums.npy"):
        content = (entry / name).read_bytes()
        (entry / name).write_bytes(content[: len(content) // 2])
        assert np.array_equal(load(folder).images, pixels)
        (entry / name).unlink()
        assert np.array_equal(load(folder).images, pixels)


def test_checksums_find_a_changed_pixel(folder, tmp_path):
    load(folder)
    (entry,) = made(tmp_path)
    assert not decoded_cache.remove_if_damaged(entry) and list(decoded_cache.entries("folder")) == [entry]
    content = bytearray((entry / "pixels.npy").read_bytes())
    content[5000] ^= 4
    (entry / "pixels.npy").write_bytes(bytes(content))
    with pytest.raises(UserError, match=rf"the cache {entry} is damaged \(wrong checksum of image 0\)"):
        load(folder).images[0]
    assert decoded_cache.remove_if_damaged(entry) and not entry.exists()


# Disks and processes


def test_a_full_disk_is_told_before_anything_is_decoded(folder, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(decoded_cache.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    monkeypatch.setattr(decoded_cache.decoding, "read", None)  # nothing is read
    with pytest.raises(UserError, match=r"take 0\.1 MB, and .* has 0\.0 MB free.*cache: none"):
        load(folder)
    assert not made(tmp_path)


def test_a_disk_that_fills_up_meanwhile_leaves_nothing(folder, tmp_path, monkeypatch):
    def full(descriptor, content, offset):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(decoded_cache.os, "pwrite", full)
    with pytest.raises(UserError, match="No space left"):
        load(folder)
    assert not made(tmp_path)


def test_a_cache_that_cannot_be_written_is_an_error_with_the_remedies(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="DMLPLAYGROUND_CACHE.*cache: none"):
        load(folder)
    assert load(folder, cache="none").images[0].shape == (48, 48, 3)


def test_a_cache_that_may_only_be_read_is_read(folder, tmp_path, monkeypatch):
    pixels = np.array(load(folder).images)

    def refuse(*_, **__):
        raise AssertionError("nothing is to be written")

    monkeypatch.setattr(files, "alone", refuse)
    for path in [*made(tmp_path)[0].iterdir(), *made(tmp_path), tmp_path / "cache" / "images"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert np.array_equal(load(folder).images, pixels)
    finally:
        for path in [tmp_path / "cache" / "images", *made(tmp_path)]:
            path.chmod(0o755)


LOAD = """
import sys, zlib, numpy as np
from dmlplayground import data
found = data.load("folder", path=sys.argv[1], stored=data.Stored("squash", 200))
print(zlib.crc32(np.ascontiguousarray(found.images)))
"""


def test_two_processes_that_start_at_once_make_one_entry(tmp_path):
    folder = class_folders(tmp_path / "own", list("abcd"), per_class=60)
    command = [sys.executable, "-c", LOAD, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in started]
    assert outputs[0][0] == outputs[1][0] != ""
    assert sum("decoding 120 images" in told for _, told in outputs) == 1, outputs
    assert len(made(tmp_path)) == 1


def test_where_there_are_no_locks_the_first_to_be_done_wins(folder, tmp_path, monkeypatch):
    """Another process makes the entry while ours is being filled."""

    def no_locks(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(files.fcntl, "flock", no_locks)
    decode = decoded_cache._decode

    def after_another(*arguments):
        monkeypatch.setattr(decoded_cache, "_decode", decode)
        load(folder)
        return decode(*arguments)

    monkeypatch.setattr(decoded_cache, "_decode", after_another)
    assert load(folder).images.shape == (8, 48, 48, 3)
    assert len(made(tmp_path)) == 1


def test_memory_does_not_grow_with_the_cache(tmp_path, monkeypatch):
    """Read twice over, a cache of 63 MB leaves no more than its bound in the process."""
    monkeypatch.setattr(images, "RESIDENT", 8 << 20)
    folder = class_folders(tmp_path / "own", list("abcd"), per_class=160)
    found = load(folder, stored=Stored("squash", 256)).images

    def mapped() -> int:
        """Bytes of mapped files that are in this process's memory."""
        (line,) = [
            line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssFile")
        ]
        return int(line.split()[1]) << 10

    before, most = mapped(), 0
    for _ in range(2):
        for row in range(len(found)):
            found[row].max()
            most = max(most, mapped() - before)
    assert most < 16 << 20 < len(found) * 256 * 256 * 3


# Threads


def test_results_come_in_order_whatever_takes_how_long():
    def slow(item: int) -> int:
        time.sleep(0.002 * (item % 3))
        return item * item

    for workers in (0, 1, 4):
        assert list(threads.ahead(slow, range(20), workers)) == [item * item for item in range(20)]


def test_an_error_comes_through_and_what_waits_is_given_up():
    started = []

    def fail(item: int) -> int:
        started.append(item)
        if item == 3:
            raise UserError("broken")
        return item

    results = threads.ahead(fail, range(1000), 2)
    with pytest.raises(UserError, match="broken"):
        list(results)
    assert len(started) < 20


def test_only_a_little_is_made_ahead():
    started = []
    results = threads.ahead(started.append, range(1000), 2)
    next(results)
    time.sleep(0.05)
    assert len(started) <= 6
    results.close()
