"""What holds for the parts of every kind, and what the listings make of it."""

import re
import subprocess
import sys

import pytest

from dmlplayground.base import registry
from dmlplayground.base.errors import UserError
from dmlplayground.cli import listing

ALL = [(plural, name) for plural in registry.HOMES for name in registry.kind(plural).names()]


@pytest.mark.parametrize(("plural", "name"), ALL)
def test_a_part_tells_what_it_is(plural, name):
    kind = registry.kind(plural)
    part = kind.get(name)
    assert part.key == name and part.title and part.prose and part.summary
    assert set(part.option_notes) == set(part.options)
    assert all(
        note.endswith(".") for note in part.option_notes.values()
    )  # else its other lines are not indented
    assert all(text.count("``") % 2 == 0 for text in (part.prose, *part.option_notes.values()))
    story = listing.as_text(plural, name)
    assert story.startswith(f"{name}: {part.title}")
    for option in part.options:
        assert f"  {kind.setting}.{option} " in story
    assert all(note.split()[0] in story for note in part.option_notes.values())


def test_an_error_says_which_part_it_is_about():
    """One name can be a method's and a miner's."""
    with pytest.raises(UserError, match="^method angular: alpha"):
        registry.kind("methods").create("angular", 10, 4, alpha=95.0)
    with pytest.raises(UserError, match="^miner angular: angle"):
        registry.kind("miners").create("angular", angle=95.0)


@pytest.mark.parametrize(
    ("plural", "name"), [pair for pair in ALL if pair[0] in ("methods", "regularizers", "metrics")]
)
def test_a_part_that_computes_a_number_has_its_formula(plural, name):
    """As an indented block, which the pages typeset."""
    assert re.search(r"^    \S.* = ", registry.kind(plural).get(name).prose, re.M)


@pytest.mark.parametrize(("plural", "name"), ALL)
def test_other_names_and_misspelt_ones_lead_to_it(plural, name):
    kind = registry.kind(plural)
    for other in kind.get(name).also:
        if other not in kind.names():
            with pytest.raises(UserError, match=f"Did you mean '{name}'"):
                kind.get(f"{other} ")
    with pytest.raises(UserError, match=f"unknown {kind.name} .*Did you mean"):
        kind.get(f"{name}x")


@pytest.mark.parametrize("plural", registry.HOMES)
def test_a_kind_is_listed(plural):
    table = listing.as_text(plural, None).splitlines()
    listed = {line.split()[0] for line in table if line.strip()}
    assert set(registry.kind(plural).names()) <= listed


def test_an_unknown_kind_is_answered():
    with pytest.raises(UserError, match="unknown kind of part 'sampler'. Did you mean 'samplers'"):
        registry.kind("sampler")


def test_listing_everything_loads_no_heavy_library():
    """MXNet alone takes two seconds; who asks what there is waits for none of these."""
    code = (
        "import sys; from dmlplayground.base import registry; from dmlplayground.cli import listing\n"
        "for plural in registry.HOMES:\n"
        "    for name in (None, *registry.kind(plural).names()): listing.as_text(plural, name)\n"
        "heavy = ('mxnet', 'gluoncv', 'scipy', 'sklearn', 'numba', 'matplotlib', 'pandas', 'torch')\n"
        "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
