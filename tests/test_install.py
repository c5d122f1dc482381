"""An installation carries the YAML along and offers the command, outside the checkout."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import checkout_fixture
import pytest

from dmlplayground.base import optional

ROOT = Path(__file__).parents[1]
FOLDERS = [
    ".ci",
    "benchmarks",
    "dmlplayground",
    "docs",
    "experiments",
    "hyperparams",
    "notebooks",
    "scripts",
    "tests",
]
FILES = [
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "NOTICE",
    "README.md",
    "mkdocs.yml",
    "pyproject.toml",
    "setup.py",
]
NOT_ADDED = ("cpu", "cu112", "crosscheck")  # the two builds of MXNet, and gigabytes
GRID, VALUES = "experiments/tables/probe.yaml", "hyperparams/fehervari2019/probe/npairs.yaml"


def run(*command, cwd):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    words = [str(part) for part in command]
    result = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True)
    if result.returncode:
        pytest.fail(result.stdout + result.stderr, pytrace=False)
    return result.stdout


@pytest.fixture(scope="module")
def extras():
    """What the extras need, as setup.py says it."""
    told = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("setuptools.setup", lambda **given: told.update(given))
        runpy.run_path(str(ROOT / "setup.py"))
    return told["extras_require"]


def test_every_package_that_is_asked_for_comes_with_its_extra(extras):
    for name, package in optional.PACKAGES.items():
        wanted = name.replace("_", "-")
        assert any(one.replace("_", "-").startswith(wanted) for one in extras[package.extra]), name


@pytest.mark.slow
def test_every_extra_and_all_together_can_be_added_to_an_environment_with_mxnets_numpy(extras, tmp_path):
    """onnx brings ml_dtypes, whose 0.6 needs NumPy 2: pip would move an environment with MXNet there."""
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    pip = tmp_path / "venv/bin/pip"
    run(pip, "install", "-q", "numpy<2", cwd=tmp_path)
    added = {extra: needs for extra, needs in extras.items() if extra not in (*NOT_ADDED, "all")}
    added["together"] = [one for needs in added.values() for one in needs]
    added["all"] = [one for one in extras["all"] if one not in extras["cpu"]]
    for extra, needs in added.items():
        run(pip, "install", "-q", "--dry-run", "--report", "report.json", *needs, cwd=tmp_path)
        report = json.loads((tmp_path / "report.json").read_text())
        assert "numpy" not in {one["metadata"]["name"].lower() for one in report["install"]}, extra


@pytest.fixture
def checkout(tmp_path):
    """A copy, for setuptools leaves a build/ behind, and with two files that only this test knows."""
    folder = tmp_path / "checkout"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    for name in (GRID, VALUES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("probe: true\n")
    return folder


@pytest.fixture
def environment(tmp_path):
    """A venv that has setuptools of its own and borrows everything else from the environment of this test."""
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    borrowed = sysconfig.get_path("purelib")
    site = run(
        tmp_path / "venv/bin/python",
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
        cwd=tmp_path,
    )
    Path(site.strip(), "borrowed.pth").write_text(borrowed)
    run(
        tmp_path / "venv/bin/python",
        "-m",
        "pip",
        "install",
        "-q",
        "--ignore-installed",
        "setuptools",
        cwd=tmp_path,
    )
    return tmp_path / "venv/bin"


def found_in(environment, folder):
    code = (
        "from dmlplayground import __version__; from dmlplayground.base import resources\n"
        "print(__version__, resources.find_experiment('tables/probe'), resources.hyperparams(), sep='\\n')"
    )
    version, grid, values = run(environment / "python", "-c", code, cwd=folder).splitlines()
    assert Path(grid).read_text() == Path(values, *Path(VALUES).parts[1:]).read_text() == "probe: true\n"
    assert version in run(environment / "pip", "list", "--format=freeze", cwd=folder)
    assert "usage: dmlplayground" in run(environment / "dmlplayground", "--help", cwd=folder)
    return Path(grid)


@pytest.mark.slow
def test_source_archive_and_wheel(checkout, environment, tmp_path):
    wanted = {path.relative_to(checkout) for path in checkout.rglob("*") if path.is_file()}
    run(environment / "python", "setup.py", "-q", "sdist", cwd=checkout)
    (archive,) = (checkout / "dist").iterdir()
    with tarfile.open(archive) as packed:
        held = {Path(*Path(name).parts[1:]) for name in packed.getnames()}
    assert wanted <= held  # all that is needed to build, document and test
    run(environment / "pip", "install", "-q", "--no-deps", "--ignore-installed", archive, cwd=tmp_path)
    shutil.rmtree(checkout)
    assert environment.parent in found_in(environment, tmp_path).parents


SERVES = """
import re, subprocess, sys, urllib.request
command = [sys.argv[1], "docs", "--no-browser", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    address = re.search(r"http://127\\.0\\.0\\.1:\\d+/", server.stdout.readline())[0]
    print(urllib.request.urlopen(address + "parts/methods/probe.html", timeout=30).read().decode())
    server.terminate()
"""


@pytest.mark.slow
def test_a_wheel_runs_the_quick_start_dry_and_brings_pages_and_templates(checkout, environment, tmp_path):
    """The wheel that ``scripts/wheel.sh`` builds, pages and all, outside the checkout."""
    pytest.importorskip("mkdocs")
    method = (checkout / "dmlplayground/parts/methods/triplet.py").read_text()
    (checkout / "dmlplayground/parts/methods/probe.py").write_text(method)
    shutil.rmtree(checkout / "hyperparams/fehervari2019/probe")
    (checkout / GRID).unlink()
    build = [
        "env",
        f"PYTHON={environment / 'python'}",
        "sh",
        checkout / "scripts/wheel.sh",
        "--no-build-isolation",
    ]
    (wheel,) = run(*build, cwd=tmp_path).split()
    run(
        environment / "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--ignore-installed",
        checkout / wheel,
        cwd=tmp_path,
    )
    shutil.rmtree(checkout)
    assert "39 trials" in run(environment / "dmlplayground", "sweep", "quickstart", "--dry-run", cwd=tmp_path)
    placing = ["place", "proxy_nca", "--in", "glyphs", "--dry-run"]  # the kept records of an arena come along
    assert "42 trials" in run(environment / "dmlplayground", *placing, cwd=tmp_path)
    served = run(environment / "python", "-c", SERVES, environment / "dmlplayground", cwd=tmp_path)
    assert "<title>probe - dmlplayground</title>" in served and "method.margin" in served
    (tmp_path / "clone").mkdir()
    checkout_fixture.checkout(tmp_path / "clone")
    run(environment / "dmlplayground", "new", "study", "mine", "--into", "clone", cwd=tmp_path)
    assert (tmp_path / "clone/hyperparams/mine/glyphs/margin.yaml").is_file()


@pytest.mark.slow
def test_editable(checkout, environment, tmp_path):
    run(environment / "pip", "install", "-q", "--no-deps", "--ignore-installed", "-e", checkout, cwd=tmp_path)
    assert found_in(environment, tmp_path) == checkout / GRID
