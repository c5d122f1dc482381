"""``dmlplayground docs``."""

import importlib.util
import os
import re
import subprocess
import sys
import urllib.request
from http.server import ThreadingHTTPServer

import pytest

from dmlplayground import cli
from dmlplayground.base import errors, resources


def test_the_pages_are_served_on_this_machine_alone(tmp_path):
    (tmp_path / "index.html").write_text("the pages")
    code = (
        "import pathlib, sys; from dmlplayground import cli; from dmlplayground.base import errors, resources\n"
        "resources.pages = lambda: pathlib.Path(sys.argv[1])\n"
        "cli.main(['docs', '--port', '0', '--no-browser'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())[0]
            assert urllib.request.urlopen(address, timeout=30).read() == b"the pages"
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("checkout", "message"),
    [
        (None, "in docs/; there, dmlplayground docs shows them, and sh scripts/wheel.sh makes a wheel"),
        ("nowhere", 'what builds them is not installed. In nowhere: pip install -e ".[docs]"'),
    ],
)
def test_pages_that_are_not_there_are_told_how_to_get(checkout, message, monkeypatch, capsys):
    monkeypatch.setattr(resources, "pages", lambda: None)
    monkeypatch.setattr(resources, "checkout", lambda: checkout)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main(["docs"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("built", [True, False])
def test_a_checkout_builds_its_pages_once(built, tmp_path, monkeypatch, capsys):
    site = tmp_path / "site"
    monkeypatch.setattr(resources, "pages", lambda: site if site.is_dir() else None)
    monkeypatch.setattr(resources, "checkout", lambda: tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    commands = []

    def run(command, **where):
        commands.append((command[1:], where["cwd"]))
        if built:
            site.mkdir()
            (site / "index.html").touch()
        return subprocess.CompletedProcess(command, 0 if built else 1)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", lambda self: None)
    ended = [cli.main(["docs", "--no-browser", "--port", "0"]) for _ in range(1 + built)]
    assert ended == ([0, 0] if built else [2])
    assert commands == [(["-m", "mkdocs", "build", "--quiet"], tmp_path)]
    assert "mkdocs build says why" in capsys.readouterr().err or built


@pytest.mark.parametrize("outcome", ["built", "failed", "no mkdocs"])
def test_pages_that_are_older_than_the_code_are_built_anew(outcome, tmp_path, monkeypatch, capsys):
    site, code = tmp_path / "site", tmp_path / "dmlplayground" / "methods.py"
    for path in (site / "index.html", code):
        path.parent.mkdir()
        path.touch()
    os.utime(code, (2e9, 2e9))
    monkeypatch.setattr(resources, "pages", lambda: site)
    monkeypatch.setattr(resources, "checkout", lambda: tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if outcome == "no mkdocs" else name)
    monkeypatch.setattr(errors, "_WARNED", set())
    commands = []

    def run(command, **where):
        commands.append(command)
        if outcome == "built":
            os.utime(site / "index.html", (3e9, 3e9))
        return subprocess.CompletedProcess(command, 0 if outcome == "built" else 1)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", lambda self: None)
    assert [cli.main(["docs", "--no-browser", "--port", "0"]) for _ in range(2)] == [0, 0]
    assert len(commands) == {"built": 1, "failed": 2, "no mkdocs": 0}[outcome]
    told = capsys.readouterr()
    assert ("These are the old ones" in told.err) == (outcome != "built")
    assert "older than dmlplayground/methods.py" in told.out + told.err


def test_a_port_that_is_none_is_refused(capsys):
    assert cli.main(["docs", "--port", "70000"]) == 2
    assert "--port: must be at most 65,535" in capsys.readouterr().err
