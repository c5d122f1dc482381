"""Augmentations: what each does to a pixel, how often, and that an image's draws are its own."""

import colorsys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlplayground import augmentations, config, transforms
from dmlplayground.base import opencv
from dmlplayground.base.errors import UserError
from dmlplayground.parts.augmentations import colour_jitter as colours


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def noise(count: int, height: int = 20, width: int = 30, seed: int = 0) -> np.ndarray:
    return rng(seed).integers(0, 256, (count, height, width, 3), np.uint8)


def after(name: str, block: np.ndarray, seed: int = 1, **options) -> np.ndarray:
    changed = block.copy()
    assert augmentations.create(name, **options)(changed, rng(seed)) is None
    return changed


@pytest.fixture(params=["cv2", "numpy"])
def library(request, monkeypatch):
    """With OpenCV's package and without it."""
    if request.param == "numpy":
        monkeypatch.setattr(opencv, "package", lambda: None)
    return request.param


# --- what all of them promise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", augmentations.names())
@given(st.integers(0, 2**31), st.integers(1, 5), st.integers(1, 12), st.integers(1, 12))
@settings(max_examples=20, deadline=None)
def test_a_block_is_a_function_of_its_generator_alone(name, seed, count, height, width):
    block = noise(count, height, width, seed)
    once = after(name, block, seed)
    assert once.shape == block.shape and once.dtype == np.uint8
    assert np.array_equal(once, after(name, block, seed))


@pytest.mark.parametrize("name", augmentations.names())
def test_what_is_drawn_for_an_image_does_not_depend_on_the_others(name):
    block = noise(12)
    whole = after(name, block)
    block[3:] = 0
    assert np.array_equal(after(name, block)[:3], whole[:3])


@pytest.mark.parametrize("name", augmentations.names())
def test_something_is_changed_and_something_is_left_by_chance(name):
    block = noise(60)
    changed = (after(name, block) != block).any(axis=(1, 2, 3)).mean()
    chance = augmentations.get(name).options.get("chance")
    assert changed == pytest.approx(1 if chance is None else chance.default, abs=0.2) and changed > 0
    if chance is not None:
        assert np.array_equal(after(name, block, chance=0.0), block)
        assert (after(name, block, chance=1.0) != block).any(axis=(1, 2, 3)).mean() > 0.9


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("gray", {}, "Did you mean 'grey'"),
        ("cutout", {}, "Did you mean 'erasing'"),
        ("grey", {"chance": 2}, "chance must be between 0 and 1"),
        ("colour_jitter", {"hue": 0.7}, "hue must be from 0 to 0.5"),
        ("colour_jitter", {"contrast": -1}, "contrast"),
        ("blur", {"narrowest": 3.0}, "the narrowest first"),
        ("rotation", {"degrees": 200}, "degrees"),
        ("erasing", {"smallest": 0.0}, "the smallest first"),
        ("erasing", {"narrowest": 0.0}, "narrowest"),
        ("erasing", {"fill": "pink"}, "one of noise, mean, black"),
    ],
)
def test_what_cannot_be_done_is_refused(name, options, words):
    with pytest.raises(UserError, match=words):
        augmentations.create(name, **options)


# --- one by one ------------------------------------------------------------------------------------------------------


def test_grey_images_keep_their_brightness(library):
    block = noise(40)
    grey = after("grey", block, chance=1.0)
    assert (grey == grey[..., :1]).all()
    expected = block[..., 0] * 0.299 + block[..., 1] * 0.587 + block[..., 2] * 0.114
    assert np.abs(grey[..., 0] - expected).max() <= (
        0.9 if library == "cv2" else 0.501
    )  # it counts in 1024ths


def only(**chosen) -> dict[str, float]:
    return {"brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "hue": 0.0, **chosen}


def test_nothing_to_jitter_changes_nothing(library):
    assert np.array_equal(after("colour_jitter", noise(3), **only()), noise(3))


def test_brightness_contrast_and_saturation_are_factors_within_their_width(library):
    block = noise(300, 6, 6) // 4 + 96  # nothing is cut off
    luma = block @ colours.LUMA
    rest = {
        "brightness": block.astype(float),
        "contrast": block - luma.mean(axis=(1, 2))[:, None, None, None],
        "saturation": block - luma[..., None],
    }
    for name, distances in rest.items():
        changed = after("colour_jitter", block, **only(**{name: 0.3})) - (block - distances)
        factors = (changed * distances).sum(axis=(1, 2, 3)) / (distances**2).sum(axis=(1, 2, 3))
        assert np.abs(changed - factors[:, None, None, None] * distances).max() <= 1, name  # rounded
        assert 0.69 < factors.min() < 0.72 and 1.28 < factors.max() < 1.31, name
        assert abs(factors.mean() - 1) < 0.03


def hue(colour) -> float:
    return colorsys.rgb_to_hsv(*colour)[0]


def test_hue_turns_colours_and_keeps_their_brightness():
    for colour in ([200, 120, 90], [90, 160, 200]):
        for share in (0.05, -0.1):
            turned = colours.turned(share)[:, :3] @ colour
            assert turned @ colours.LUMA == pytest.approx(colours.LUMA @ colour, abs=0.2)
            moved = (hue(turned) - hue(colour) + 0.5) % 1 - 0.5
            assert 0.4 < moved / share < 2.5, "by about that share of the circle, and that way round"
    assert np.allclose(colours.turned(1.0)[:, :3], np.eye(3), atol=1e-12)
    assert np.allclose(colours.turned(0.3)[:, :3] @ [77, 77, 77], 77, atol=0.2), "grey has no hue"


def test_the_order_of_changes_is_random_and_each_sees_what_came_before():
    """Of an image of one colour contrast keeps the colour's grey, whatever is done before or after."""
    colour = np.array([180.0, 90.0, 60.0])
    jitter = augmentations.create("colour_jitter", **only(brightness=0.5, contrast=0.5))
    image = np.tile(colour.astype(np.uint8), (4, 4, 1))
    grey = colours.LUMA @ colour
    for order in ([0, 1, 2, 3], [1, 0, 2, 3]):
        matrix = jitter._matrix(image, [0.2, -0.4, 0.0, 0.0], order)
        assert np.allclose(matrix[:, :3] @ colour + matrix[:, 3], 1.2 * (0.6 * colour + 0.4 * grey))
    block = np.tile(image, (400, 1, 1, 1))
    outcomes = {tuple(pixel) for pixel in after("colour_jitter", block)[:, 0, 0].tolist()}
    assert len(outcomes) > 300


def test_an_erased_rectangle_is_as_large_and_as_narrow_as_told():
    block = np.full((800, 40, 60, 3), 200, np.uint8)
    changed = after("erasing", block, fill="black", smallest=0.1, largest=0.3, narrowest=0.5)
    lost = (changed == 0).all(axis=3)
    chosen = lost.any(axis=(1, 2))
    assert chosen.mean() == pytest.approx(0.5, abs=0.06)
    shares, ratios, tops = [], [], []
    for mask in lost[chosen]:
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        high, wide = np.ptp(rows) + 1, np.ptp(columns) + 1
        assert mask.sum() == high * wide, "one rectangle"
        shares.append(high * wide / 2400)
        ratios.append(high / wide)
        tops.append(rows[0] / (40 - high))
    assert 0.09 < min(shares) < 0.11 and 0.28 < max(shares) < 0.31 and abs(np.mean(shares) - 0.2) < 0.01
    assert 0.45 < min(ratios) < 0.55 and 1.85 < max(ratios) < 2.1 and abs(np.log(ratios).mean()) < 0.06
    assert abs(np.mean(tops) - 0.5) < 0.05 and max(tops) == 1 and min(tops) == 0


def test_what_fills_the_rectangle():
    block = noise(200)
    block[..., 0] //= 4
    mean, random = after("erasing", block, fill="mean", chance=1.0), after("erasing", block, chance=1.0)
    changed = (mean != block).any(axis=3)
    for image, original, mask in zip(mean, block, changed):
        assert (image[mask] == np.rint(original.mean(axis=(0, 1)))).all()
    filled = random[(random != block).any(axis=3)]
    assert np.abs(filled.mean(axis=0) - 127.5).max() < 4, "noise is the same in every channel"


def test_blur_keeps_what_is_even_and_spreads_a_point(library):
    even = np.full((3, 9, 9, 3), 77, np.uint8)
    assert np.array_equal(after("blur", even, chance=1.0), even)
    point = np.zeros((1, 31, 31, 3), np.uint8)
    point[0, 15, 15] = 255
    blurred = after("blur", point, chance=1.0, narrowest=2.0, widest=2.0)[0, :, :, 0]
    distance = np.arange(31) - 15
    kernel = np.exp(-0.5 * (distance / 2.0) ** 2) * (np.abs(distance) <= 6)
    kernel /= kernel.sum()
    assert np.abs(blurred - 255 * np.outer(kernel, kernel)).max() <= 1


def test_rotation_turns_about_the_centre(library):
    block = noise(2, 15, 15)
    quarter = np.stack([opencv.rotate(image, 90.0) for image in block])
    assert min(np.abs(quarter - np.rot90(block, turn, (1, 2)).astype(int)).max() for turn in (1, 3)) <= 1
    even = np.full((3, 9, 12, 3), 77, np.uint8)
    assert np.array_equal(after("rotation", even, degrees=45), even), "corners mirror what lies within"
    assert np.array_equal(after("rotation", block, degrees=0.0), block)


def test_both_libraries_make_the_same_images(monkeypatch):
    """A smooth image, but for a rounding: OpenCV rotates in steps of a 32nd of a pixel."""
    rows, columns = np.mgrid[:24, :32]
    image = np.stack([rows * 8, columns * 6, rows * 3 + columns * 3], axis=2).astype(np.uint8)
    block = np.tile(image, (6, 1, 1, 1))
    for name in augmentations.names():
        with_cv2 = after(name, block)
        with monkeypatch.context() as patch:
            patch.setattr(opencv, "package", lambda: None)
            without = after(name, block)
        assert np.abs(with_cv2.astype(int) - without).max() <= (2 if name == "rotation" else 1), name


# --- as part of a transform ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", transforms.names())
def test_any_transform_takes_them_and_draws_as_it_did_without(name):
    images, rows = noise(5, 64, 64), np.array([4, 0, 2])
    options = {"size": 32} if "size" in transforms.get(name).options else {}
    plain = transforms.create(name, **options)
    both = transforms.create(name, augment=["grey", {"name": "rotation", "degrees": 20}], **options)
    expected = plain.train(images, rows, stream := rng(5)).copy()
    augmentations.create("grey")(expected, stream)
    augmentations.create("rotation", degrees=20)(expected, stream)
    before = images.copy()
    assert np.array_equal(both.train(images, rows, rng(5)), expected)
    assert np.array_equal(images, before), "nothing is written to the images"
    assert np.array_equal(both.test(images, rows), plain.test(images, rows))
    assert both.test_shape(images) == plain.test_shape(images)
    assert (both.stored, both.stored_for_test) == (plain.stored, plain.stored_for_test)


def test_a_configuration_completes_them_and_does_not_mention_none():
    given = {
        "method": "npairs",
        "transform": {"name": "paper", "augment": ["grey", {"name": "erasing", "chance": 1}]},
    }
    trial = config.trial(given)
    assert trial.transform["augment"][0] == {"name": "grey", "chance": 0.2}
    assert trial.transform["augment"][1]["fill"] == "noise"
    assert config.trial(trial) == trial
    without = config.trial({"method": "npairs", "transform": "paper"})
    assert "augment" not in without.transform
    empty = config.trial({"method": "npairs", "transform": {"name": "paper", "augment": []}})
    assert empty.id == without.id != trial.id


@pytest.mark.parametrize(
    ("augment", "words"),
    [
        (["blurr"], "Did you mean 'blur'"),
        (["grey", 3], "transform.augment lists augmentations"),
        ([{"chance": 1}], "transform.augment lists augmentations"),
        ([{"name": "grey", "chnace": 1}], "chance"),
        ([{"name": "grey", "chance": 3}], "between 0 and 1"),
        ("grey", "must be a list"),
    ],
)
def test_a_configuration_that_asks_for_the_impossible_is_refused(augment, words):
    with pytest.raises(UserError, match=words):
        config.trial({"method": "npairs", "transform": {"name": "paper", "augment": augment}})
