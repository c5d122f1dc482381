"""The pages and the README: their commands are commands, their options are options, and their code runs."""

import dataclasses
import datetime
import functools
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from checkout_fixture import checkout
from docs_fixture import PAGES, ROOT, blocks, commands
from PIL import Image

import dmlplayground as dml
from dmlplayground import cli, config, data
from dmlplayground.base import registry
from dmlplayground.base.errors import UserError
from dmlplayground.cli import templates
from dmlplayground.parts.data.shared import decoding
from dmlplayground.sweeps import grid
from dmlplayground.sweeps.chosen import choose

COMMANDS = sorted({line for text in PAGES.values() for line in commands(text)})
PLACEHOLDERS = ("NAME", "METHOD")  # that a reader is to replace


def parsed(line):
    words = shlex.split(line, comments=True)[1:]
    every = cli._commands()
    return words, cli.parser(every).parse_args(cli._completed(words, every))


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_one(line):
    try:
        words, arguments = parsed(line)
    except UserError as problem:  # of a tracker whose package is not installed here
        assert " --log " in line and "need the package" in str(problem)
        return
    if words[0] == "sweep" and arguments.file not in PLACEHOLDERS and not arguments.file.endswith(".yaml"):
        experiment, _ = grid.load(arguments.file)
        trials = len(experiment.trials(arguments.where, arguments.set))
        for text in PAGES.values():
            named = re.search(rf"`{re.escape(line)}` \| (\d+)", text)
            assert named is None or int(named[1]) == trials


def lists(line):
    """Whether a command only lists parts or tells of one."""
    words = shlex.split(line, comments=True)[1:]
    named = words[1] if len(words) == 2 else ""
    listing = words[0] in {*registry.HOMES, "experiments", "hyperparams"} and len(words) <= 2
    return listing and named not in PLACEHOLDERS


@pytest.mark.parametrize("line", [line for line in COMMANDS if lists(line)])
def test_what_only_lists_runs(line, capsys):
    assert cli.main(shlex.split(line, comments=True)[1:]) == 0
    assert capsys.readouterr().out


#: The blocks of every page by language, each of which a test below runs, or, where it needs a cluster or a prompt, reads.
BLOCKS = {
    "README.md": "sh sh sh",
    "CONTRIBUTING.md": "sh",
    "bundles.md": "sh yaml",
    "external.md": "yaml",
    "data-sets.md": "sh",
    "features.md": "python sh sh",
    "getting-started.md": "text text sh yaml yaml sh sh python sh sh text",
    "index-of-images.md": "python",
    "many-machines.md": "text sh text sh text",
    "metrics.md": "python",
    "own-images.md": "sh sh yaml sh",
    "own-parts.md": "sh sh python python",
    "paper-to-place.md": "sh python python sh sh sh",
    "place.md": "sh",
    "reproducibility.md": "sh",
    "serving.md": "python sh python",
    "studies.md": "sh sh sh sh sh",
}


def test_every_file_that_a_page_names_is_there():
    named = {
        found
        for text in PAGES.values()
        for found in re.findall(r"`((?:tests|benchmarks|dmlplayground)/[\w./]+)`", text)
    }
    given = {"somebody2021", "stand_out"}  # that `new` writes
    assert len(named) > 10
    assert [one for one in named if not (ROOT / one).exists() and Path(one).stem not in given] == []


def own(text):
    """A page without the templates that it shows, which another test holds."""
    return re.sub(r"<!-- template .*? -->\n```.*?\n```", "", text, flags=re.DOTALL)


def test_no_block_is_left_without_a_test():
    found = {name: " ".join(re.findall(r"^```(\w+)\n", own(text), re.M)) for name, text in PAGES.items()}
    assert {name: languages for name, languages in found.items() if languages} == BLOCKS


TINY = [
    f"--set={setting}"
    for setting in (
        "data.classes=24",
        "epochs=1",
        "iterations=2",
        "embed_dim=8",
        "evaluation.clustering=false",
    )
]


@pytest.mark.slow
def test_the_sessions_of_the_pages_go_through(tmp_path, monkeypatch, capsys):
    """Every command of the pages in the order in which a reader meets them, in one folder, with tiny trainings."""
    monkeypatch.chdir(tmp_path)
    np.save("embeddings.npy", np.random.default_rng(0).normal(size=(40, 8)))
    np.save("labels.npy", np.repeat(np.arange(4), 10))
    done = []
    for name in ("getting-started.md", "many-machines.md", "reproducibility.md", "README.md"):
        for line in "".join(blocks("sh", PAGES[name])).splitlines():
            words = shlex.split(line, comments=True)[1:]
            if not line.startswith("dmlplayground ") or line in done or ELSEWHERE & {*words}:
                continue
            if words[0] == "compare":
                for store in words[1:]:
                    shutil.copytree("runs/quickstart", store, dirs_exist_ok=True)
            assert cli.main([*words, *(shortened(words))]) == 0, (line, capsys.readouterr().err)
            done.append(line)
    assert len(done) >= 12 and list(Path("runs/quickstart").rglob("index.html"))


#: What goes on until Ctrl-C, asks, or has tests of its own.
ELSEWHERE = {"serve", "docs", "fit", "new", "place", "clean", "--log"}


def shortened(words):
    """What makes a command of the pages one of seconds, without changing what it does."""
    if words[0] == "sweep":
        return [*TINY, "--where=seed=1", "--where=method=margin"] if "--print-commands" not in words else []
    return (
        [*TINY, "--set=backbone=conv4", "--set=data.size=32", "--set=batch_size=20"]
        if words[0] == "train"
        else []
    )


def test_the_lines_of_the_studies_go_through_dry_without_their_images(tmp_path, monkeypatch, capsys):
    """All but the images is right with them, and what is not there yet is told."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DMLPLAYGROUND_DATA", str(tmp_path))
    for line in commands(PAGES["studies.md"]):
        words = shlex.split(line, comments=True)[1:]
        if words[0] not in ("train", "sweep", "tune") or words[1] in PLACEHOLDERS:
            continue
        dry = [] if "--dry-run" in words else ["--dry-run"]
        assert cli.main([*words, *dry]) == 0, (line, capsys.readouterr().err)
        told, trouble = capsys.readouterr()
        assert not trouble, line
        needs_images = words[0] != "tune" and not words[1].endswith("glyphs")
        assert (f"is not in {tmp_path}" in told) == needs_images, line


def test_every_option_for_what_the_released_code_did_is_one():
    found = re.findall(r"\(`([\w.]+=[\w.-]+)`", PAGES["differences.md"])
    assert len(found) == 12

    def accepted(option, **given):
        try:
            return config.trial({"data": "glyphs", **given}, [option])
        except UserError:
            return None

    def somewhere(option):
        """Some method, data set, miner or sampler that takes it."""
        if option.startswith("method."):
            return any(accepted(option, method=method) for method in dml.methods.names())
        part = {"data": "sop", "mining": "multi_similarity", "sampler": "per_class", "transform": "paper"}
        key = re.match(r"\w+", option)[0]
        return accepted(option, method="contrastive", **{key: part[key]})

    for option in found:
        assert somewhere(option), option


def test_every_experiment_in_a_yaml_block_makes_trials(tmp_path):
    block, more = blocks("yaml", PAGES["getting-started.md"])
    (tmp_path / "sizes.yaml").write_text(block)
    assert len(grid.load(tmp_path / "sizes.yaml")[0].trials()) == 2 * 2 * 2
    (tmp_path / "sizes.yaml").write_text(block + more)
    trials = grid.load(tmp_path / "sizes.yaml")[0].trials()
    assert sorted((trial.method["name"], trial.embed_dim, trial.seed) for trial in trials) == [
        ("margin", 32, 0), ("margin", 32, 1),
        ("npairs", 32, 0), ("npairs", 64, 0), ("npairs", 128, 0), ("npairs", 128, 1),
    ]  # fmt: skip
    assert {trial.batch_size for trial in trials if trial.method["name"] == "margin"} == {60}


def test_the_names_for_python_do_what_the_page_says(monkeypatch):
    (block,) = blocks("python", PAGES["getting-started.md"])
    # They read the configuration as training would, and stop there.
    monkeypatch.setattr(dml, "train", config.trial)
    monkeypatch.setattr(dml, "sweep", lambda given, where=(), workers=1: choose(given, where=where).trials)
    monkeypatch.setattr(dml.records, "to_frame", list)
    names: dict = {}
    exec(block, names)
    assert names["value"].shape == (1,) and {"R@1", "R@8", "NMI"} <= set(names["scores"])
    assert names["record"].embed_dim == 64 and len(names["records"]) == 3
    assert [trial.embed_dim for trial in names["frame"]] == [32, 64]


def test_the_example_of_the_metrics_is_right():
    for block in blocks("python", PAGES["metrics.md"]):
        exec(block, {})


def test_features_of_the_page_are_taken(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("python", PAGES["features.md"])
    exec(block, {})
    line, frozen = blocks("sh", PAGES["features.md"])
    assert cli.main(shlex.split(line)[1:]) == 0
    given = [word for word in shlex.split(frozen) if "=" in word]  # the photographs need not be here
    assert config.trial({"method": "margin"}, given).backbone["name"] == "identity"


def test_commands_for_data_sets_are_commands():
    commands = cli._commands()
    for line in "".join(blocks("sh", PAGES["data-sets.md"])).splitlines():
        arguments = cli.parser(commands).parse_args(shlex.split(line, comments=True)[1:])
        data.get(arguments.name)  # a set that there is


def test_own_images_of_the_page_are_taken(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in map(str, range(60)):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(5):
            pixels = np.random.default_rng(number).integers(0, 256, (40, 40, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / name / f"{number}.png")
    for line in "".join(blocks("sh", PAGES["own-images.md"])).splitlines():
        extra = ["--set", "backbone.pretrained=none"] if "backbone=" in line else []
        assert cli.main([*shlex.split(line, comments=True)[1:], *extra]) == 0, line
    (block,) = blocks("yaml", PAGES["own-images.md"])
    trial = config.trial({"method": "margin", **yaml.safe_load(block)})
    assert trial.data["seed"] == 0 and trial.data["train"] == 0.7


def written_there(block, home, name):
    """What a file of the package ``home`` would define."""
    content = {"__name__": f"{home.__name__}.{name}", "__package__": home.__name__}
    exec(compile(block, name, "exec"), content)


def test_the_loss_and_the_sampler_of_the_page_work(monkeypatch):
    loss_file, sampler_file = blocks("python", own(PAGES["own-parts.md"]))
    for home, file, name in (
        (dml.methods, loss_file, "soft_triplet"),
        (dml.samplers, sampler_file, "neighbours"),
    ):
        home.names()
        monkeypatch.setattr(home.KIND, "_parts", dict(home.KIND._parts))
        written_there(file, home, name)
    x, labels = np.random.default_rng(0).normal(size=(12, 3)).astype("float32"), np.repeat(np.arange(3), 4)
    loss = dml.methods.loss("soft_triplet", num_classes=3, embed_dim=3, mining="all")
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    same = labels[:, None] == labels
    gaps = [
        apart[a, p] - apart[a, n]
        for a, p in np.argwhere(same & ~np.eye(12, dtype=bool))
        for n in np.flatnonzero(~same[a])
    ]
    assert loss(x, labels).asscalar() == pytest.approx(np.log1p(np.exp(gaps)).mean(), rel=1e-4)

    memory = np.repeat([[0.0], [1.0], [9.0], [11.0]], 5, axis=0)
    labels = np.repeat(np.arange(4), 5)
    sampler = dml.samplers.create("neighbours", labels, 8, iterations=20)
    pairs = {
        tuple(labels[rows][::4]) for rows in sampler.batches(0, SimpleNamespace(embeddings=lambda: memory))
    }
    assert pairs == {(0, 1), (1, 0), (2, 3), (3, 2)}


BASES = {
    "methods": dml.methods.Loss,
    "miners": dml.mining.Miner,
    "regularizers": dml.regularizers.Regularizer,
    "samplers": dml.samplers.BatchSampler,
    "optimizers": dml.optimizers.Optimizer,
    "schedules": dml.schedules.Schedule,
    "transforms": dml.transforms.Transform,
    "protocols": dml.protocols.Protocol,
}
TAKEN_CARE_OF = {"key", "kind", "build", "number"}  # no business of a part's file


@pytest.mark.parametrize("plural", registry.HOMES)
def test_the_page_names_what_the_file_of_a_part_may_say(plural):
    page = PAGES["own-parts.md"]
    facts = {field.name for field in dataclasses.fields(registry.kind(plural).record)}
    base = BASES.get(plural)
    told = {name for name, value in vars(base).items() if not callable(value)} if base else set()
    told |= {*getattr(base, "__annotations__", {})}
    if dataclasses.is_dataclass(base):  # options that all of the kind have are on the part's own page
        told -= {field.name for field in dataclasses.fields(base) if field.init}
    for name in facts | {name for name in told if not name.startswith("_")}:
        property_of = isinstance(getattr(base, name, None), (property, functools.cached_property))
        assert name in TAKEN_CARE_OF or property_of or re.search(rf"\b{name}\b", page), name


def written_for(page):
    """The templates that the page shows."""
    return [
        (plural, kind, name)
        for plural, kind, name in re.findall(r"<!-- template (\w+)/(\w+) (\w+) -->", page)
    ]


def test_the_page_shows_a_template_of_every_kind():
    shown = {plural for plural, kind, _ in written_for(PAGES["own-parts.md"]) if kind == "part"}
    assert shown == set(registry.HOMES)


def test_the_page_shows_each_template_as_new_writes_it():
    for plural, kind, name in written_for(PAGES["own-parts.md"]):
        text = templates.filled(plural, kind, name)
        text = re.sub(rf"\b{datetime.date.today().year}\b", r"\\d{4}", re.escape(text))
        shown = rf"<!-- template {plural}/{kind} {name} -->\n```(python|yaml)\n{text}```"
        assert re.search(shown, PAGES["own-parts.md"]), (plural, kind)


def test_new_parts_of_the_page_are_written(tmp_path, capsys):
    checkout(tmp_path)
    block, *_ = blocks("sh", PAGES["own-parts.md"])
    for line in block.splitlines():
        assert cli.main([*shlex.split(line)[1:], "--into", str(tmp_path)]) == 0
    assert len(list((tmp_path / "dmlplayground").rglob("*.py"))) == len(registry.HOMES)


USE_THEM = """
import sys
import dmlplayground as dml, dmlplayground.parts.backbones, dmlplayground.parts.data, dmlplayground.parts.methods
for package in (dml.methods, dml.data, dml.backbones):
    package.__path__.append(sys.argv[1] + "/" + package.__name__.replace(".", "/"))
from dmlplayground import cli
store = ["--store", sys.argv[1] + "/runs"]
sys.exit(cli.main([*sys.argv[2].split()[1:], "--quiet", *store, "--set", "epochs=3"]))
"""


@pytest.mark.slow
def test_a_method_a_data_set_and_a_backbone_of_the_page_learn(tmp_path):
    from dmlplayground.trial.store import records

    checkout(tmp_path)
    for word, name in (("method", "stand_out"), ("data", "stripes"), ("backbone", "shallow")):
        assert cli.main(["new", word, name, "--into", str(tmp_path)]) == 0
    (line,) = [line for line in COMMANDS if line.startswith("dmlplayground train stand_out")]
    command = [sys.executable, "-c", USE_THEM, str(tmp_path), line]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = records.load_store(tmp_path / "runs")
    for metric in ("R@1", "MAP@R"):  # it learns something that holds for classes it has not seen
        before, after = (record.results[which]["metrics"][metric] for which in ("untrained", "last"))
        assert after > before + 0.02, (metric, before, after)
    assert record.data["test"].startswith("stripes (test): 600 images of 40 classes")


def test_the_index_is_used_as_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = {}
    exec(blocks("python", PAGES["index-of-images.md"])[0], told)
    assert told["names"] == [["north", "east"]] and len(told["again"]) == 3


@pytest.mark.slow
def test_what_was_trained_is_used_as_the_page_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    short = {"iterations": 2, "epochs": 1, "embed_dim": 8, "evaluation": {"clustering": False}}
    small = {"data": {"name": "glyphs", "size": 32, "classes": 12}, "backbone": "conv4", "transform": "plain"}
    record = dml.train({"method": "npairs", "batch_size": 8, **short, **small})
    (tmp_path / "photos").mkdir()
    for name, image in zip("abc", np.asarray(data.load("glyphs", split="test", size=32, classes=12).images)):
        Image.fromarray(image).save(tmp_path / "photos" / f"{name}.png")
    page = PAGES["serving.md"].replace("runs/TRIAL", f"runs/{record.id}")
    for line in "".join(blocks("sh", page)).splitlines():
        assert cli.main(shlex.split(line)[1:]) == 0, line
    ours, theirs = ({}, {})
    first, second = blocks("python", page)
    exec(first, ours)
    exec(second, theirs)
    assert len(ours["found"]) >= 1
    np.testing.assert_allclose(theirs["known"], ours["embeddings"], atol=1e-4)
    assert theirs["order"][0] == 0 and Path("network.onnx").exists()


def odd_pictures(folder):
    """Files as phones, scanners and editors leave them."""
    rng = np.random.default_rng(0)
    rgb = Image.fromarray(rng.integers(0, 256, (6, 8, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1))
    turned = Image.Exif()
    turned[0x0112] = 6
    rgb.save(folder / "turned.jpg", exif=turned)
    Image.fromarray(rng.integers(0, 65536, (40, 50)).astype(np.uint16)).save(folder / "sixteen.png")
    rgb.convert("CMYK").save(folder / "inks.jpg")
    rgb.convert("L").save(folder / "grey.png")
    rgb.convert("1").save(folder / "two.png")
    rgb.convert("P").save(folder / "palette.gif")
    rgb.quantize(8).save(folder / "hole.png", transparency=3)
    clear = rgb.convert("RGBA")
    clear.putalpha(rgb.convert("L"))
    clear.save(folder / "clear.png")
    clear.convert("LA").save(folder / "clear-grey.png")
    clear.save(folder / "clear.webp", lossless=True)
    rgb.save(folder / "plain.bmp")
    return sorted(folder.iterdir())


@pytest.mark.slow
def test_the_lines_for_other_programs_embed_odd_pictures_as_we_do(trained, tmp_path):
    """In a process that has neither MXNet nor us."""
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package)
    (tmp_path / "odd").mkdir()
    files = [str(path) for path in odd_pictures(tmp_path / "odd")]
    model = dml.load(trained)
    model.export(tmp_path / "network.onnx", "onnx", resize=True)
    page = blocks("python", PAGES["serving.md"])[1]
    program = (
        f"import sys\n{page[: page.index('gallery =')]}\nnp.save('found.npy', embed(sys.argv[1:]))\n"
        "assert not {'mxnet', 'dmlplayground'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-I", "-c", program, *files], check=True, cwd=tmp_path)
    expected = model.embed(files)
    away = np.abs(np.load(tmp_path / "found.npy") - expected).max(axis=1) / np.abs(expected).max()
    assert away.max() < 5e-3, dict(zip(files, away))  # pixels may differ by one grey level


def test_the_lines_for_other_programs_read_odd_pictures_as_we_do(tmp_path):
    """In a process that has neither MXNet nor us."""
    page = blocks("python", PAGES["serving.md"])[1]
    lines = page[page.index("def pixels") : page.index("def embed")]
    files = odd_pictures(tmp_path)
    program = (
        "import sys\nimport numpy as np\nfrom PIL import Image, ImageOps\n"
        f"{lines}\nfor path in sys.argv[1:]:\n    np.save(path + '.npy', pixels(path))\n"
        "assert not {'mxnet', 'dmlplayground'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-I", "-c", program, *map(str, files)], check=True)
    for path in files:
        np.testing.assert_array_equal(np.load(f"{path}.npy"), decoding.decode(path.read_bytes()), str(path))
