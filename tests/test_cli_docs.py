"""``dmlplayground docs``."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request

import pytest

from dmlplayground import cli, resources


def test_the_pages_are_served_on_this_machine_alone(tmp_path):
    (tmp_path / "index.html").write_text("the pages")
    code = (
        "import pathlib, sys; from dmlplayground import cli, resources\n"
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
    ("arguments", "message"),
    [([], "no pages have been built"), (["--port", "70000"], "--port must be from 0 to 65535, not 70000")],
)
def test_what_cannot_be_shown_is_said(arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(resources, "pages", lambda: None)
    assert cli.main(["docs", *arguments]) == 2
    assert message in capsys.readouterr().err
