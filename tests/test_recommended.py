"""What is recommended is what the findings support: ``fit``'s methods, and those that pages and descriptions praise."""

import json
import re
import sys
from pathlib import Path

import pytest
from docs_fixture import PAGES

from dmlplayground.parts import methods
from dmlplayground.serving.fitting import choose

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import evidence  # noqa: E402

PRAISE = re.compile(
    r"\brecommend|\bbegin with\b|\bstart with\b|\bgood (first|default)\b|\b(level with|among) the best\b"
)
OWN = {"findings.md", "argument.md"}  # these are about what was measured or published
KINDS = {"FROM_SCRATCH": ("scratch",), "FINE_TUNING": ("finetuned",), "HEADS": ("features",)}


@pytest.mark.parametrize("name", KINDS)
def test_fit_uses_methods_that_the_findings_support(name):
    """``fit`` tries several heads and keeps the best, so that one of them is enough."""
    supported = evidence.supported(*KINDS[name])
    if not supported:
        pytest.skip("the findings have no arena of this kind yet")
    settings = getattr(choose, name)
    used = {one["method"] for one in (settings if isinstance(settings, tuple) else (settings,))}
    assert used & supported


def praised(text):
    """The methods that sentences with a word of praise name in code."""
    sentences = re.split(r"(?<=[.:;])\s", text)
    return {
        word
        for sentence in sentences
        if PRAISE.search(sentence)
        for word in re.findall(r"`(\w+)`", sentence)
        if word in methods.names()
    }


def test_praise_is_found():
    assert praised("Take `margin`. We recommend `npairs` here. `triplet` is old.") == {"npairs"}
    assert praised("A good default is `proxy_nca`") == {"proxy_nca"}


@pytest.mark.parametrize("page", sorted(PAGES.keys() - OWN))
def test_pages_praise_methods_that_the_findings_support(page):
    assert praised(PAGES[page]) - evidence.supported(*evidence.KINDS) == set()


def test_descriptions_praise_methods_that_the_findings_support():
    for name in methods.names():
        text = " ".join((methods.get(name).build.__doc__ or "").split())
        assert praised(text) - evidence.supported(*evidence.KINDS) == set(), name


def test_supported_are_the_best_of_complete_arenas(tmp_path):
    def arena(kind, complete, *best):
        return {"kind": kind, "complete": complete, "score": "R@1", "best": list(best), "methods": {}}

    path = tmp_path / "findings.json"
    told = {
        "a": arena("scratch", True, "margin", "npairs"),
        "b": arena("scratch", False, "triplet"),
        "c": arena("features", False, "arcface"),
    }
    path.write_text(json.dumps(told))
    assert evidence.supported("scratch", path=path) == {"margin", "npairs"}
    assert evidence.supported("features", path=path) == {"arcface"}
    assert evidence.supported("finetuned", path=path) == set()
    assert evidence.supported("scratch", path=tmp_path / "nothing") == set()


def test_pages_of_methods_and_getting_started_say_what_the_findings_do(monkeypatch, tmp_path):
    scored = {
        name: {"mean": mean, "interval": [mean - 2, mean + 2], "places": [place, place]}
        for place, (name, mean) in enumerate([("margin", 71.0), ("npairs", 60.0)], 1)
    }
    icons = {
        "kind": "scratch",
        "complete": True,
        "score": "R@1 (validated)",
        "best": ["margin"],
        "year": "2026",
        "methods": scored,
    }
    told = {"icons": icons}
    monkeypatch.setattr(evidence, "found", lambda path=None: told)
    assert "`icons`, by R@1 (validated)): `margin`" in evidence.recommended()
    card = evidence.in_arenas("npairs")
    assert "| icons | R@1 (validated) | 60.0 | 58.0 to 62.0 | 2 of 2 | below margin |" in card
    assert "![icons: place 2 of 2](npairs-icons.svg)" in card and "@misc{dmlplayground_npairs," in card
    assert "place 2 of 2" in evidence.badges()["parts/methods/npairs-icons.svg"]
    assert "icons: R@1 (validated) 71.0 (69.0 to 73.0), place 1 of 2" in evidence.bibtex("margin")
    assert "not told apart from the best" in evidence.in_arenas("margin")
    assert evidence.in_arenas("triplet") == ""
    monkeypatch.setattr(evidence, "found", lambda path=None: {})
    assert "recommend no method" in evidence.recommended()
    assert "<!-- recommended -->" in PAGES["getting-started.md"]
