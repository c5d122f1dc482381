"""Cars196: models of cars."""

from pathlib import Path
from typing import Any

from . import KIND
from .shared.catalogue import Catalogue, Entry, class_folders
from .shared.releases import Archive, Count, Layout, Release

ANNOTATIONS = "cars_annos.mat"
TEST_LABELS = "cars_test_annos_withlabels.mat"


def _official(folder: Path) -> list[Entry]:
    """car_ims/ and cars_annos.mat: one numbering of all images. The first half of the classes is for training."""
    stored = _matlab(folder / ANNOTATIONS)
    names = [str(name) for name in stored["class_names"].ravel()]
    return [_entry(row, str(row["relative_im_path"]), names) for row in stored["annotations"].ravel()]


def _kaggle(folder: Path) -> list[Entry]:
    """cars_train/ and cars_test/, whose files have the same names, and the devkit; torchvision asks for the same. Which of the
    two folders an image is in does not matter here: classes decide."""
    devkit = _first(folder / "devkit", folder / "car_devkit" / "devkit", folder)
    names = [str(name) for name in _matlab(devkit / "cars_meta.mat")["class_names"].ravel()]
    labels = {
        "cars_train": devkit / "cars_train_annos.mat",
        "cars_test": _first(folder / TEST_LABELS, devkit / TEST_LABELS, folder / TEST_LABELS),
    }
    entries = []
    for part, path in labels.items():
        doubled = (folder / part / part).is_dir()  # in some copies
        inside = f"{part}/{part}" if doubled else part
        for row in _matlab(path)["annotations"].ravel():
            if "class" not in row.dtype.names:
                raise ValueError(f"{path} has no classes; those of the test images are in {TEST_LABELS}")
            entries.append(_entry(row, f"{inside}/{row['fname']}", names))
    return entries


def _first(*places: Path) -> Path:
    """The first of these that is there, else the last."""
    return next((place for place in places if place.exists()), places[-1])


def _matlab(path: Path) -> dict:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    if not path.is_file():
        raise ValueError(f"{path} is missing")
    try:
        return loadmat(path, squeeze_me=True)
    except MatReadError as problem:
        raise ValueError(f"{path.name}: {problem}") from None


def _entry(row: Any, file: str, names: list[str]) -> Entry:
    """A line of annotations. MATLAB counts pixels from 1, and its boxes include their last row and column."""
    number = int(row["class"])
    left, top, right, bottom = (int(row[f"bbox_{side}"]) for side in ("x1", "y1", "x2", "y2"))
    box = (left - 1, top - 1, right - left + 1, bottom - top + 1)
    return Entry(file, f"{number:03d}.{names[number - 1]}", _half(number, len(names)), box)


def _numbered(folder: Path) -> list[Entry]:
    """A folder for every class, called by its number."""
    entries = [entry for entry in class_folders(folder) if entry.label.isdecimal()]
    classes = max(int(entry.label) for entry in entries)
    return [entry._replace(split=_half(int(entry.label), classes)) for entry in entries]


def _half(number: int, classes: int) -> str:
    return "train" if number <= classes // 2 else "test"


def _named(folder: Path) -> list[Entry]:
    """A folder for every class, called by its full name, perhaps below train/ and test/. Classes are numbered by their
    makes: the first half ends with the last that begins with E, the Eagle Talon, and the other begins with FIAT."""
    entries = []
    for part in [name for name in ("train", "test") if (folder / name).is_dir()] or ["."]:
        for entry in class_folders(folder / part):
            split = "train" if entry.label[:1].upper() <= "E" else "test"
            entries.append(entry._replace(file=(Path(part) / entry.file).as_posix(), split=split))
    return entries


KNOWN = ("Acura TL Sedan 2012", "Audi S4 Sedan 2012", "Dodge Charger Sedan 2012", "Tesla Model S Sedan 2012")

RELEASE = Release(
    name="cars196",
    title="Cars196: cars of 196 models",
    layouts=(
        Layout("Kaggle's and torchvision's layout", ("cars_train",), _kaggle),
        Layout("the original layout", (ANNOTATIONS,), _official),
        Layout("folders called by class numbers", ("1", "001"), _numbered),
        Layout(
            "folders called by class names",
            tuple(f"{part}{name}" for part in ("", "train/") for name in KNOWN),
            _named,
        ),
    ),
    counts={"train": Count(8054, 98), "test": Count(8131, 98)},
    archives=(Archive("cars_annos.mat"), Archive("car_ims.tgz")),
    advice=(
        "Stanford no longer offers its files. Copies circulate in several layouts, all of which work: car_ims.tgz with "
        "cars_annos.mat; cars_train, cars_test and devkit with cars_test_annos_withlabels.mat (Kaggle's and torchvision's); "
        "or a folder of images for each class, called by its number or its full name."
    ),
)


@KIND.register(title=RELEASE.title, release=RELEASE)
def load(split: str, *, boxes: bool = False, **installed: Any) -> Catalogue:
    """Stanford's cars. Models 1 to 98 are for training (8,054 images), 99 to 196 for test (8,131).

    boxes: crop images to their bounding boxes before anything else (not where the layout is a folder for each class).
    """
    return RELEASE.catalogue(split, boxes=boxes, **installed)
