"""``dmlplayground new``: what it writes works as it is, and the tests of all parts find it."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkout_fixture import checkout

from dmlplayground.base import registry
from dmlplayground.base.errors import UserError
from dmlplayground.cli import main, templates
from dmlplayground.trial import conformance
from dmlplayground.trial.conformance import Skip

TESTS = Path(__file__).parent

#: A checkout that holds the new parts: the packages and the references look there too.
RUN = """
import importlib, sys
from pathlib import Path
import pytest
from dmlplayground.base import registry, resources
checkout, tests, *plurals = Path(sys.argv[1]), *sys.argv[2:]
for plural in plurals:
    package = registry.kind(plural).package
    importlib.import_module(package).__path__.append(str(checkout / package.replace(".", "/")))
if "studies" in plurals:
    resources.checkout = lambda: checkout  # its settings and experiments are YAML
sys.path.insert(0, tests)
import reference
reference.__path__.append(str(checkout / "tests/reference"))
general = [file for plural, file in {"methods": "test_methods.py", "metrics": "test_metrics_table.py"}.items()
           if plural in plurals]
own = [str(path) for path in (checkout / "tests").glob("test_*.py")]
more = [f"{tests}/{file}" for file in ("test_parts.py", *general)]
options = ["-q", "-p", "no:cacheprovider", "--rootdir", tests]
sys.exit(pytest.main([*options, *own]) or pytest.main([*options, *more, "-k", "brand_new"]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ["miner"],
        pytest.param([word for word in templates.kinds() if word != "study"], marks=pytest.mark.slow),
        pytest.param(["study"], marks=pytest.mark.slow),
    ],
    ids=["miner", "all-but-study", "study"],
)
def test_new_parts_work_as_they_are(words, tmp_path, capsys):
    checkout(tmp_path)
    plurals = [templates.kinds()[word] for word in words]
    for word, plural in zip(words, plurals):
        assert main(["new", word, "brand_new", "--into", str(tmp_path)]) == 0
        assert f"dmlplayground {plural} brand_new" in capsys.readouterr().out
        assert list(tmp_path.glob(f"tests/test_{plural}_*.py")), word
    command = [sys.executable, "-c", RUN, str(tmp_path), str(TESTS), *plurals]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    own, general = (int(count) for count in re.findall(r"(\d+) passed", done.stdout))
    assert own >= len(words) and general >= 2 * len(words)


def test_every_kind_of_part_has_a_template():
    assert set(templates.kinds().values()) == set(registry.HOMES)


def test_what_is_written_is_in_the_house_style(tmp_path):
    checkout(tmp_path)
    for word in templates.kinds():
        templates.write(word, f"new_{word}", tmp_path)
    options = ["--no-cache", "--config", str(TESTS.parent / "pyproject.toml"), str(tmp_path)]
    for check in (["format", "--check"], ["check"]):
        command = [sys.executable, "-m", "ruff", *check, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("word", "name", "message"),
    [
        ("methd", "mine", "unknown kind of part with a template 'methd'. Did you mean 'method'"),
        ("method", "margin", "there is a method called margin already"),
        ("method", "My-Loss", "'My-Loss' cannot be a file name"),
        ("method", "lambda", "'lambda' cannot be a file name"),
    ],
)
def test_what_cannot_be_made_is_refused(word, name, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)):
        templates.write(word, name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(tmp_path):
    checkout(tmp_path)
    templates.write("miner", "mine", tmp_path)
    with pytest.raises(UserError, match=r"mine\.py exists already"):
        templates.write("miner", "mine", tmp_path)


def test_a_study_needs_a_checkout(tmp_path):
    (tmp_path / "setup.py").touch()
    with pytest.raises(UserError, match="a study has files in several folders of a checkout"):
        templates.write("study", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["setup.py"]


@pytest.mark.parametrize("word", [word for word in templates.kinds() if word != "study"])
def test_a_part_in_any_folder_imports_by_whole_names(word, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", word, f"own_{word}"]) == 0
    assert f"dmlplayground check own_{word}.py" in capsys.readouterr().out
    plural = templates.kinds()[word]
    assert main([plural, f"own_{word}", "--parts", f"own_{word}.py"]) == 0
    assert capsys.readouterr().out.startswith(f"own_{word}: ")
    named = conformance.named(f"own_{word}.py")
    assert (plural, f"own_{word}") in named
    quick = [check for check in conformance.checks_of(plural) if "training" not in check.__name__]
    for check in quick:
        with contextlib.suppress(Skip):
            check(f"own_{word}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
