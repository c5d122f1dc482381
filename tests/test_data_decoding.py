"""From a file to pixels: every kind of image a release or a user may hold, and those that are broken."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from data_fixture import picture
from PIL import Image

from dmlplayground.base import opencv
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data.shared import decoding
from dmlplayground.parts.transforms import Stored

AS_IS = Stored("none")
RGB = np.dstack([np.full((6, 8), value, np.uint8) for value in (200, 100, 50)])


def saved(path, image, **options):
    image.save(path, **options)
    return decoding.read(path, AS_IS)


def test_rgb_is_rgb(tmp_path):
    assert np.array_equal(saved(tmp_path / "a.png", Image.fromarray(RGB)), RGB)
    jpeg = saved(tmp_path / "a.jpg", Image.fromarray(RGB), quality=100)
    assert np.abs(jpeg.astype(int) - RGB).max() <= 3


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_grey_becomes_three_equal_channels(tmp_path, suffix):
    found = saved(tmp_path / f"a.{suffix}", Image.fromarray(RGB[:, :, 0]))
    assert found.shape == (6, 8, 3)
    assert np.abs(found.astype(int) - 200).max() <= 1


def test_cmyk_is_converted(tmp_path):
    found = saved(tmp_path / "a.jpg", Image.fromarray(RGB).convert("CMYK"), quality=100)
    assert np.abs(found.astype(int) - RGB).max() <= 6


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_shows_white(tmp_path, mode):
    image = Image.new("RGBA", (8, 6), (10, 20, 30, 0))
    image.paste((200, 200, 200, 255), (4, 0, 8, 6))
    found = saved(tmp_path / "a.png", image.convert(mode))
    assert (found[:, :4] == 255).all() and np.abs(found[:, 4:].astype(int) - 200).max() <= 1


def test_sixteen_bits_keep_the_upper_eight(tmp_path):
    values = (np.arange(48).reshape(6, 8) * 1300).astype(np.uint16)
    assert np.array_equal(saved(tmp_path / "a.png", Image.fromarray(values))[:, :, 1], values >> 8)


def test_numbers_without_a_range_are_refused(tmp_path):
    with pytest.raises(UserError, match="32-bit"):
        saved(tmp_path / "a.tiff", Image.fromarray(RGB[:, :, 0].astype(np.float32)))


AS_TAKEN = {
    1: lambda upright: upright,
    2: np.fliplr,
    3: lambda upright: np.rot90(upright, 2),
    4: np.flipud,
    5: np.transpose,
    6: np.rot90,
    7: lambda upright: np.rot90(upright, 2).T,
    8: lambda upright: np.rot90(upright, -1),
}


@pytest.mark.parametrize("suffix", ["jpg", "png"])
@pytest.mark.parametrize("orientation", AS_TAKEN)
def test_pictures_stand_upright(tmp_path, suffix, orientation):
    """Every way a camera may have been held; the sizes read ahead agree."""
    upright = np.kron(np.array([[250, 120, 10], [30, 60, 90]], np.uint8), np.ones((16, 16), np.uint8))
    as_taken = AS_TAKEN[orientation](upright)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"a.{suffix}"
    found = saved(path, Image.fromarray(np.ascontiguousarray(as_taken)).convert("RGB"), exif=exif)
    assert found.shape[:2] == upright.shape == decoding.size(path)
    assert np.abs(found[:, :, 0].astype(int) - upright).max() <= 12


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.gif"])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_truncated_file_is_an_error_that_names_it(tmp_path, name, share):
    path = picture(tmp_path / name, 1, (200, 150))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(UserError, match=str(path)):
        decoding.read(path, AS_IS)


def test_padding_after_the_end_is_no_harm(tmp_path):
    path = picture(tmp_path / "a.jpg", 1)
    before = decoding.read(path, AS_IS)
    for padding in (b"\0" * 20, b"\r\n", b"and a trailer of some camera" * 9):
        path.write_bytes(path.read_bytes() + padding)
        assert np.array_equal(decoding.read(path, AS_IS), before)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "empty"), (b"hello", "not an image"), (b"\xff\xd8\xff\xe0 broken", "cannot read")],
)
def test_what_is_no_image_is_an_error(tmp_path, content, words):
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    for read in (lambda: decoding.read(path, AS_IS), lambda: decoding.size(path)):
        with pytest.raises(UserError, match=words):
            read()


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        decoding.read(tmp_path / "a.jpg", AS_IS)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((2.9, 1.2, 3.7, 2.9), (2, 1, 5, 3)),  # whole pixels, by leaving off what is behind the point
        ((-4, -4, 100, 100), (0, 0, 8, 6)),
        ((7, 5, 9, 9), (7, 5, 8, 6)),
        ((30, 40, 5, 5), (7, 5, 8, 6)),  # outside: the nearest pixel
        ((3, 3, 0, 0), (3, 3, 4, 4)),
    ],
)
def test_boxes_are_whole_pixels_inside_the_image(tmp_path, box, expected):
    left, top, right, bottom = expected
    assert decoding.clamp(box, 6, 8) == expected
    path = tmp_path / "a.png"
    numbered = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    Image.fromarray(numbered).save(path)
    assert np.array_equal(decoding.read(path, AS_IS, box), numbered[top:bottom, left:right])
    assert decoding.size(path, box) == (bottom - top, right - left)


@pytest.mark.parametrize(
    ("stored", "shape"),
    [
        (Stored("squash", 32), (32, 32)),
        (Stored("short", 32), (32, 42)),
        (Stored("short", 60), (60, 80)),
        (AS_IS, (30, 40)),
    ],
)
def test_the_stored_size_is_as_it_says(tmp_path, stored, shape):
    path = picture(tmp_path / "a.png", 3, (40, 30))
    assert stored.shape(30, 40) == shape == decoding.read(path, stored).shape[:2]
    assert stored.shape(40, 30) == shape[::-1]


def test_mxnet_stands_in_where_cv2_cannot_be_loaded(tmp_path, monkeypatch):
    """The same OpenCV operations from another build: equal but for the last digits of its JPEG decoder."""
    jpeg, png = picture(tmp_path / "a.jpg", 1, (120, 90)), picture(tmp_path / "a.png", 2, (120, 90))
    stored = [Stored("squash", 64, name) for name in opencv.INTERPOLATIONS]
    mirrored = np.empty((64, 64, 3), np.uint8)

    def everything():
        found = [decoding.read(path, way) for path in (jpeg, png) for way in stored]
        opencv.flip(found[0], mirrored)
        return [*found, mirrored.copy()]

    with_cv2 = everything()
    monkeypatch.setattr(opencv, "package", lambda: None)
    without = everything()
    assert "mxnet" in opencv.library()
    for one, other in zip(with_cv2, without):
        assert one.shape == other.shape
        assert np.abs(one.astype(int) - other).mean() < 1.5


def test_bytes_of_a_jpeg_in_the_thumbnail_do_not_hide_that_it_is_cut(tmp_path):
    """The end mark of a thumbnail inside the EXIF data is not the end of the picture."""
    thumbnail = io.BytesIO()
    Image.new("RGB", (16, 16)).save(thumbnail, "JPEG")
    path = picture(tmp_path / "a.jpg", 1, (200, 150), exif=b"Exif\0\0" + thumbnail.getvalue())
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(UserError, match="Premature end"):
        decoding.read(path, AS_IS)


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_that_is_cut_and_closed_again_is_damaged(tmp_path, mode, progressive):
    """Pillow and OpenCV accept these without a word, and fill the rest with grey."""
    path = picture(tmp_path / "a.jpg", 1, (200, 150))
    Image.open(path).convert(mode).save(path, progressive=progressive)
    content = path.read_bytes()
    for share in (0.4, 0.6, 0.8, 0.95):
        path.write_bytes(content[: int(share * len(content))] + b"\xff\xd9")
        with pytest.raises(UserError, match=f"cannot read the image {path}"):
            decoding.read(path, AS_IS)


def test_a_jpeg_with_a_damaged_body_is_found_where_its_decoder_can_tell(tmp_path):
    """Of noise written into the body, most is found. (What happens to be a valid code cannot be.)"""
    path = picture(tmp_path / "a.jpg", 1, (200, 150))
    content, found = path.read_bytes(), 0
    rng = np.random.default_rng(1)
    for start in rng.integers(700, len(content) - 200, 40):
        path.write_bytes(content[:start] + rng.bytes(100) + content[start + 100 :])
        try:
            decoding.read(path, AS_IS)
        except decoding.Unreadable:
            found += 1
    assert found >= 36


def test_jpegs_have_the_pixels_that_opencv_gives(tmp_path):
    cv2 = pytest.importorskip("cv2")
    for number, mode in enumerate(("RGB", "L")):
        path = picture(tmp_path / f"{mode}.jpg", number, (123, 77))
        Image.open(path).convert(mode).save(path, quality=85, subsampling=2, progressive=bool(number))
        theirs = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        assert np.array_equal(decoding.read(path, AS_IS), theirs)


def test_an_absurdly_large_file_is_refused_unread(tmp_path):
    path = tmp_path / "a.jpg"
    with path.open("wb") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises(UserError, match="larger than 1,024 MB"):
        decoding.read(path, AS_IS)


@pytest.mark.parametrize("kind", ["pipe", "device", "NUL"])
def test_what_is_not_a_file_is_refused_at_once(tmp_path, kind):
    path = {"pipe": tmp_path / "a.jpg", "device": Path("/dev/zero"), "NUL": Path("a\0.jpg")}[kind]
    if kind == "pipe":
        os.mkfifo(path)
    for look in (lambda: decoding.read(path, AS_IS), lambda: decoding.size(path)):
        with pytest.raises(UserError, match="not a file|NUL"):
            look()
