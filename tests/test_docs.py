"""The documentation: it builds without a broken link or a file from elsewhere, and every part has its page."""

import html
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from dmlplayground import cli, config
from dmlplayground.base import optional, registry

pytestmark = pytest.mark.slow  # all of the site is built

ROOT = Path(__file__).parents[1]
ALL = [(plural, name) for plural in registry.HOMES for name in registry.kind(plural).names()]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The built site. A link that leads nowhere is a failure."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def page(site, name):
    """The text of a page, without its markup."""
    text = re.sub(r"<[^>]+>", "", (site / name).read_text(encoding="utf-8"))
    return " ".join(html.unescape(text).split())


def test_every_part_has_its_page(site):
    for plural, name in ALL:
        part = registry.kind(plural).get(name)
        text = page(site, f"parts/{plural}/{name}.html")
        assert " ".join(part.title.split()) in text, (plural, name)
        for option in part.options:
            assert f"{registry.kind(plural).setting}.{option}" in text, (plural, name, option)
        assert f'href="{quote(name)}.html"' in (site / f"parts/{plural}/index.html").read_text(
            encoding="utf-8"
        )
    files = {path.relative_to(site / "parts").with_suffix("").parts for path in site.glob("parts/*/*.html")}
    assert files == {*ALL, *((plural, "index") for plural in registry.HOMES)}


def test_a_method_has_its_settings_its_published_numbers_and_its_curve(site):
    text = page(site, "parts/methods/margin.html")
    assert "Where a search looks" in text and "0.0003 to 0.1 on a logarithmic scale" in text
    assert "fehervari2019, cub200" in text and "printed in the log of a published run" in text
    assert "table 2" in text and "On the built-in characters" in text
    source = (site / "parts/methods/margin.html").read_text(encoding="utf-8")
    assert (
        source.count("<polyline") == 1 + 3 and "<math" in source
    )  # of all methods, and the quick start's three seeds
    assert "times the median of the grid" in text
    assert 'src="margin-glyphs.svg"' in source and "@misc{dmlplayground_margin" in text
    assert "dmlplayground glyphs: place" in (site / "parts/methods/margin-glyphs.svg").read_text(
        encoding="utf-8"
    )


def test_other_kinds_have_what_the_studies_say_and_what_goes_with_them(site):
    sampler = page(site, "parts/samplers/per_class.html")
    assert "2: roth2020 (script)" in sampler and "Settings in recipes" in sampler
    assert "cars196/angular" in page(site, "parts/transforms/training_strategies.html")
    assert "68.13" in page(site, "parts/protocols/validated.html")
    miner = (site / "parts/miners/semihard.html").read_text(encoding="utf-8")
    assert 'href="../methods/triplet.html"' in miner and 'href="../studies/roth2020.html"' in miner
    assert "It takes these: " in page(site, "parts/methods/triplet.html")
    assert "margin_b1.2_distance" in page(site, "parts/studies/roth2020.html")
    study = page(site, "parts/studies/musgrave2020.html")
    assert "dmlplayground tune musgrave2020/search/arcface" in study and "73.12 ± 0.2" in study


def test_differences_are_read_off_the_parts(site):
    text = page(site, "differences.html")
    assert "neither is an option here" in text  # ArcFace's, of its own docstring
    assert "divides by the triplets with an active term" in text  # a doubt of the published numbers


def test_notebooks_are_pages(site):
    text = page(site, "notebooks/own-loss.html")
    assert "A loss of your own in a plain Gluon loop" in text and "MAP@R 0." in text


def test_every_part_that_was_trained_has_its_curve(site):
    """A grid of ``experiments/parts`` trains every part of a kind, and its records are kept."""
    kept = {path.name for path in (ROOT / "experiments" / "results" / "parts").iterdir()}
    assert {
        "methods",
        "miners",
        "samplers",
        "optimizers",
        "schedules",
        "protocols",
        "metrics",
        "transforms",
    } <= kept
    for plural in kept:
        for name in {*registry.kind(plural).names()} - {"identity"}:  # which is no network
            text = (site / f"parts/{plural}/{name}.html").read_text(encoding="utf-8")
            assert "<polyline" in text, (plural, name)
    assert "times the median" in page(site, "performance.html")


def test_every_key_of_a_configuration_is_described(site):
    text = page(site, "configuration.html")
    for key in config.reference():
        about = key.about.replace("`", "")
        assert about and f"{key.key} {about} {key.type}" in text


def test_nothing_is_fetched_from_elsewhere(site):
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r'(?:src|<link[^>]*href)="(https?:[^"]+)', text)
        loaded += re.findall(r"url\(['\"]?(https?:[^)]+)|@import", text)
        assert not loaded, path.name


def test_formulas_have_no_tag_left_open(site):
    for path in site.glob("parts/*/*.html"):
        for formula in re.findall(r"<math.*?</math>", path.read_text(encoding="utf-8"), re.S):
            ElementTree.fromstring(formula)


def test_an_assignment_is_an_arrow(site):
    text = (site / "parts/optimizers/adam.html").read_text(encoding="utf-8")
    assert "←" in text and '<mo stretchy="false">&lt;</mo><mo stretchy="false">−' not in text


def test_symbols_in_a_sentence_are_typeset_and_code_is_not(site):
    text = (site / "parts/methods/margin.html").read_text(encoding="utf-8")
    assert "With <i>D</i><sub><i>ij</i></sub> = |" in text and "<code>nonzero_cutoff</code>" in text


def test_the_home_page_shows_the_quick_start(site):
    kept = ROOT / "experiments" / "results" / "quickstart.svg"
    assert 'src="quickstart.svg"' in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "quickstart.svg").read_bytes() == kept.read_bytes()


def test_every_extra_that_something_needs_is_listed(site):
    text = page(site, "getting-started.html")
    for package in optional.PACKAGES.values():
        assert re.search(rf"{package.extra} [^`]*{re.escape(package.needed_by)}", text), package


def test_the_help_of_every_command_names_a_page_that_is_there(site):
    subparsers = next(a for a in cli.parser(cli._commands())._actions if isinstance(a.choices, dict))
    for name, command in subparsers.choices.items():
        found = re.search(r"more: the page (\S+) of dmlplayground docs", command.format_help())
        assert found and (site / found[1]).is_file(), name
