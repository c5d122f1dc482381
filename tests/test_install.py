"""An installation carries the YAML along and offers the command, outside the checkout."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GRID, VALUES = "experiments/tables/probe.yaml", "hyperparams/fehervari2019/probe/npairs.yaml"


def run(*command, cwd):
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if result.returncode:
        pytest.fail(result.stdout + result.stderr, pytrace=False)
    return result.stdout


@pytest.fixture
def checkout(tmp_path):
    """A copy, for setuptools leaves a build/ behind, and with two files that only this test knows."""
    folder = tmp_path / "checkout"
    for name in ("dmlplayground", "experiments", "hyperparams"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
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
        "from dmlplayground import resources, __version__\n"
        "print(__version__, resources.find_experiment('tables/probe'), resources.hyperparams(), sep='\\n')"
    )
    version, grid, values = run(environment / "python", "-c", code, cwd=folder).splitlines()
    assert Path(grid).read_text() == Path(values, *Path(VALUES).parts[1:]).read_text() == "probe: true\n"
    assert version in run(environment / "pip", "list", "--format=freeze", cwd=folder)
    assert "usage: dmlplayground" in run(environment / "dmlplayground", "--help", cwd=folder)
    return Path(grid)


@pytest.mark.slow
def test_source_archive_and_wheel(checkout, environment, tmp_path):
    run(environment / "python", "setup.py", "-q", "sdist", cwd=checkout)
    (archive,) = (checkout / "dist").iterdir()
    run(environment / "pip", "install", "-q", "--no-deps", "--ignore-installed", archive, cwd=tmp_path)
    shutil.rmtree(checkout)
    assert environment.parent in found_in(environment, tmp_path).parents


@pytest.mark.slow
def test_a_wheel_runs_the_quick_start_dry_and_brings_pages_and_templates(checkout, environment, tmp_path):
    (checkout / "site").mkdir()
    (checkout / "site/index.html").write_text("the pages")
    run(environment / "python", "setup.py", "-q", "bdist_wheel", cwd=checkout)
    (wheel,) = (checkout / "dist").iterdir()
    run(environment / "pip", "install", "-q", "--no-deps", "--ignore-installed", wheel, cwd=tmp_path)
    shutil.rmtree(checkout)
    assert "26 trials" in run(environment / "dmlplayground", "sweep", "quickstart", "--dry-run", cwd=tmp_path)
    code = "from dmlplayground import resources; print((resources.pages() / 'index.html').read_text())"
    assert run(environment / "python", "-c", code, cwd=tmp_path) == "the pages\n"
    run(environment / "dmlplayground", "new", "method", "mine", "--into", "clone", cwd=tmp_path)
    assert (tmp_path / "clone/tests/reference/mine.py").is_file()


@pytest.mark.slow
def test_editable(checkout, environment, tmp_path):
    run(environment / "pip", "install", "-q", "--no-deps", "--ignore-installed", "-e", checkout, cwd=tmp_path)
    assert found_in(environment, tmp_path) == checkout / GRID
