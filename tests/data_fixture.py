"""Miniature releases of the published data sets, and pictures for them."""

import json
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat


def picture(path: Path, number: int, size: tuple[int, int] = (50, 38), **options) -> Path:
    """A smooth picture of its own, saved as the path's name says."""
    stream = np.random.default_rng(number)
    small = Image.fromarray(stream.integers(0, 256, (4, 5, 3), dtype=np.uint8))
    path.parent.mkdir(parents=True, exist_ok=True)
    small.resize(size, Image.Resampling.BICUBIC).save(path, **options)
    return path


def class_folders(folder: Path, classes: list[str], per_class: int = 3) -> Path:
    for number, name in enumerate(classes):
        for i in range(per_class):
            picture(folder / name / f"{i}.jpg", 100 * number + i, (40 + number, 30 + i))
    return folder


def cub(folder: Path, classes: int = 6, per_class: int = 3) -> Path:
    """CUB_200_2011/ with its lists, images of a class not next to each other."""
    base = folder / "CUB_200_2011"
    lists: dict[str, list[str]] = {
        name: [] for name in ("images", "image_class_labels", "bounding_boxes", "classes")
    }
    for i in range(per_class):
        for number in range(1, classes + 1):
            image = 1 + i * classes + number - 1
            file = f"{number:03d}.Bird_{number}/Bird_{number}_{i:04d}.jpg"
            picture(base / "images" / file, image, (50 + image, 38))
            lists["images"].append(f"{image} {file}")
            lists["image_class_labels"].append(f"{image} {number}")
            lists["bounding_boxes"].append(f"{image} 5.7 4.2 30.9 20.5")
    lists["classes"] = [f"{number} {number:03d}.Bird_{number}" for number in range(1, classes + 1)]
    for name, rows in lists.items():
        (base / f"{name}.txt").write_text("\n".join(rows) + "\n")
    return base


def cars(folder: Path, classes: int = 4, per_class: int = 3) -> Path:
    """cars_annos.mat and car_ims/, as the release has them."""
    fields = [
        ("relative_im_path", "O"),
        *((f"bbox_{side}", "O") for side in ("x1", "y1", "x2", "y2")),
        ("class", "O"),
        ("test", "O"),
    ]
    rows = []
    for image in range(classes * per_class):
        file = f"car_ims/{image + 1:06d}.jpg"
        picture(folder / file, image)
        rows.append((file, 11, 6, 40, 25, 1 + image % classes, image % 2))
    names = np.array([f"Maker Model {number}" for number in range(1, classes + 1)], dtype=object)
    savemat(
        folder / "cars_annos.mat",
        {"annotations": np.array(rows, dtype=fields)[None], "class_names": names[None]},
    )
    return folder


def cars_of_kaggle(folder: Path, doubled: bool = True, labels_in_devkit: bool = False) -> Path:
    """cars_train/ and cars_test/ with the same file names, and the devkit: the images of ``cars``, divided otherwise."""
    fields = [*((f"bbox_{side}", "O") for side in ("x1", "y1", "x2", "y2")), ("class", "O"), ("fname", "O")]
    devkit = folder / "devkit"
    devkit.mkdir(parents=True)
    files = {
        "cars_train": devkit / "cars_train_annos.mat",
        "cars_test": (devkit if labels_in_devkit else folder) / "cars_test_annos_withlabels.mat",
    }
    for number, (part, path) in enumerate(files.items()):
        rows = []
        for image in range(number, 12, 2):
            name = f"{image // 2 + 1:05d}.jpg"
            picture(folder / part / (part if doubled else "") / name, image)
            rows.append((11, 6, 40, 25, 1 + image % 4, name))
        savemat(path, {"annotations": np.array(rows, dtype=fields)[None]})
    names = np.array([f"Maker Model {number}" for number in range(1, 5)], dtype=object)
    savemat(devkit / "cars_meta.mat", {"class_names": names[None]})
    return folder


def cars_by_name(folder: Path, divided: bool = False) -> Path:
    """A folder a class, called in full; perhaps below train/ and test/, which both have all classes."""
    names = [
        "Acura TL Sedan 2012",
        "Eagle Talon Hatchback 1998",
        "FIAT 500 Abarth 2012",
        "smart fortwo Convertible 2012",
    ]
    for number, name in enumerate(names):
        for i in range(3):
            part = ("train", "test")[i % 2] if divided else ""
            picture(folder / part / name / f"{i}.jpg", 10 * number + i)
    return folder


def products(folder: Path) -> Path:
    """Stanford_Online_Products/: products of two to four images, in two categories, listed out of order."""
    base = folder / "Stanford_Online_Products"
    listed: dict[str, list[str]] = {"train": [], "test": []}
    image = 0
    for product in range(1, 9):
        category = ("bicycle", "toaster")[product % 2]
        split = "train" if product <= 5 else "test"
        for i in range(2 + product % 3):
            image += 1
            file = f"{category}_final/{7000 + product}_{i}.JPG"
            picture(base / file, image, format="JPEG")
            listed[split].append(f"{image} {product} {1 + product % 2} {file}")
    for split, rows in listed.items():
        header = "image_id class_id super_class_id path"
        (base / f"Ebay_{split}.txt").write_text("\n".join([header, *rows[::-1]]) + "\n")
    return base


def clothes(folder: Path) -> Path:
    """In-Shop's Eval/list_eval_partition.txt and img/."""
    rows = []
    for item in range(1, 6):
        for i in range(4):
            status = "train" if item <= 2 else "query" if i < 2 else "gallery"
            file = f"img/WOMEN/Dresses/id_{item:08d}/{i:02d}_1_front.jpg"
            picture(folder / file, 10 * item + i)
            rows.append(f"{file}   id_{item:08d} {status}")
    (folder / "Eval").mkdir()
    header = f"{len(rows)}\nimage_name item_id evaluation_status\n"
    (folder / "Eval" / "list_eval_partition.txt").write_text(header + "\n".join(rows) + "\n")
    return folder


def groceries(folder: Path) -> Path:
    """The repository of Grocery Store: five classes in three coarse ones, of each three, one and two images in its lists."""
    base = folder / "GroceryStoreDataset-fc80ba9" / "dataset"
    kinds = {"Zucchini": "Zucchini", "Anjou": "Pear", "Kaiser": "Pear", "Conference": "Pear", "Milk": "Milk"}
    rows = ["Class Name (str),Class ID (int),Coarse Class Name (str),Coarse Class ID (int),Iconic Image Path"]
    lists: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    above = list(dict.fromkeys(kinds.values()))
    for number, (name, parent) in enumerate(kinds.items()):
        rows.append(f"{name},{number},{parent},{above.index(parent)},/iconic/{name}.jpg")
        for (part, listed), count in zip(lists.items(), (3, 1, 2)):
            for i in range(count):
                file = f"{part}/Fruit/{name}/{name}_{i:03d}.jpg"
                picture(base / file, 100 * number + 10 * count + i, (48, 48))
                listed.append(f"{file}, {number}, {above.index(parent)}")
    (base / "classes.csv").write_text("\n".join(rows))
    for part, listed in lists.items():
        (base / f"{part}.txt").write_text("\n".join(listed) + "\n")
    return base.parent


def icon_sets(folder: Path) -> Path:
    """A collection of icon sets as the package has it: fourteen sets draw four things, each in its own way, and some more."""
    base = folder / "package"
    (base / "json").mkdir(parents=True)
    known = {}
    licences = {"loose": "GPL-3.0", "flags-a": "MIT", "some-emoji": "MIT"}
    categories = {"flags-a": "Flags / Maps"}
    for number in range(14):
        known[f"set{number:02d}"] = None
    for number, key in enumerate([*known, *licences]):
        icons = {
            "bell": {"body": f'<path d="M{number} 0h9v9z"/>'},
            "bell-outline": {"body": '<path d="M0 0h3v3z"/>'},
            ("check-circle", "circle-check")[number % 3 == 0]: {
                "body": f'<circle cx="12" cy="12" r="{number + 1}"/>'
            },
            "home-24px": {"body": f'<rect width="{number + 1}" height="4"/>', "width": 48},
            "facebook": {"body": '<path d="M1 1h3v3z"/>'},
            "arrow-long-far-left": {"body": '<path d="M1 1h3v3z"/>'},
            "moon": {
                "body": '<path d="M0 0h5v5z"><animate/></path>'
                if number < 3
                else f'<path d="M0 {number}h5v5z"/>'
            },
            "star": {"body": f'<path fill="currentColor" d="M{min(number, 12)} 3h5v5z"/>'},
        }
        content = {"prefix": key, "icons": icons, "width": 24, "height": 24}
        (base / "json" / f"{key}.json").write_text(json.dumps(content))
        known[key] = {
            "name": key.upper(),
            "author": {"name": "somebody"},
            "license": {"spdx": licences.get(key, "MIT"), "url": "https://example.org"},
            **({"category": categories[key]} if key in categories else {}),
        }
    (base / "collections.json").write_text(json.dumps(known))
    return base
