"""The live page: what runs is shown, nothing is written, nothing but the stores is read."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
import reports_fixture as fixture

from dmlplayground import config
from dmlplayground.reports.live import state
from dmlplayground.trial.store import locks, manifest, records, stream

pytest.importorskip("starlette")
pytest.importorskip("httpx")
from starlette.testclient import TestClient

from dmlplayground.reports.live import server


@pytest.fixture
def store(tmp_path):
    store = tmp_path / "store"
    for record in fixture.grid(seeds=2):
        record.save(store / record.id)
    return store


@pytest.fixture
def client(store):
    return TestClient(server.app([store], ["testserver"]))


def running(store, epochs):
    """A trial of this configuration that this process pretends to train."""
    trial = config.trial({"method": "margin", "epochs": 10, "seed": 7})
    folder = store / trial.id
    record = records.Record(trial.id, trial.mapping(), started=records.now())
    record.save(folder)
    entries = fixture.record("margin", 7).epochs[: epochs + 1]
    (folder / stream.FILE).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return trial, folder


def test_the_state_tells_what_runs_where_and_how_long_it_will_take(store):
    trial, folder = running(store, epochs=4)
    with locks.hold(folder):
        now = state.Listing(store).now()
    (shown,) = now["running"]
    entries = stream.read(folder)
    each = [entry["seconds"] + entry["evaluation_seconds"] for entry in entries[1:]]
    assert shown["id"] == trial.id and shown["epochs"] == 4 and shown["total"] == 10
    assert shown["seconds_left"] == pytest.approx(6 * sum(each) / len(each))
    assert f"process {os.getpid()}" in shown["where"]
    assert shown["curve"][-1] == [4, pytest.approx(100 * entries[4]["metrics"]["R@1"], abs=1e-3)]
    assert now["states"]["running"] == 1 and now["states"]["failed"] == 3


def test_scores_that_are_not_finite_and_parts_that_are_gone_stop_nothing(store):
    _, folder = running(store, epochs=4)
    entries = stream.read(folder)
    entries[2]["metrics"]["R@1"] = None
    (folder / stream.FILE).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    record = records.Record.load(folder / records.RECORD)
    record.config["method"]["name"] = "a method of yesterday"
    record.save(folder)
    with locks.hold(folder):
        (shown,) = state.Listing(store).now()["running"]
    assert [number for number, _ in shown["curve"]] == [0, 1, 3, 4] and shown["total"] == 0


def test_a_trial_whose_process_is_gone_is_not_running(store):
    trial, _ = running(store, epochs=2)
    now = state.Listing(store).now()
    assert not now["running"] and now["states"]["interrupted"] >= 1
    assert trial.id in [one["id"] for one in now["stopped"]]


def test_failures_come_with_their_traceback(store):
    stopped = [one for one in state.Listing(store).now()["stopped"] if one["status"] == "failed"]
    assert len(stopped) == 3
    assert all("Diverged" in one["reason"] and "Traceback" in one["traceback"] for one in stopped)


def test_planned_trials_are_waiting(store):
    planned = {"npairs-new-s0": fixture.configuration(embed_dim=8)}
    manifest.write(store, "A sweep", "", "", planned)
    now = state.Listing(store).now()
    assert now["title"] == "A sweep" and now["states"][state.WAITING] == 1


def test_the_version_changes_with_a_record_and_with_nothing_else(store):
    before = state.Listing(store).now()["version"]
    _, folder = running(store, epochs=1)
    begun = state.Listing(store).now()["version"]
    assert begun != before
    with (folder / stream.FILE).open("a") as file:
        file.write("\n")
    assert state.Listing(store).now()["version"] == begun


# --- over HTTP ----------------------------------------------------------------------------------------------


def test_the_pages(client, store):
    assert 'href="stores/0/"' in client.get("/").text
    page = client.get("/stores/0/")
    assert page.status_code == 200 and "margin" in page.text and 'id="live"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert client.get("/stores/0/state.json").json() == state.Listing(store).now()


def test_the_report_is_new_when_a_record_is(client, store):
    assert "lifted_structure-brand-new" not in client.get("/stores/0/").text
    record = fixture.record("contrastive_like", 0)
    record.id = "lifted_structure-brand-new"
    record.save(store / record.id)
    assert "lifted_structure-brand-new" in client.get("/stores/0/").text


def test_two_cells_are_compared(client):
    page = client.get("/stores/0/compare").text
    keys = re.findall(r'<option value="(\w+)"[^>]*>([^<]+)<', page)
    by_label = {label: key for key, label in keys}
    left, right = (
        by_label["margin"],
        next(key for label, key in by_label.items() if label.startswith("triplet")),
    )
    told = client.get(f"/stores/0/compare?left={left}&right={right}").text
    assert "method.name" in told and "Comparison" in told and "R@1" in told
    table = told.partition("What differs")[2]
    assert "right − left" in table and "better, worse: right against left" in table and "time left" in table
    assert not re.search(r"\b[AB]\b", re.sub(r"<[^>]+>", " ", table))
    refused = client.get("/stores/0/compare?left=nothing&right=" + right)
    assert refused.status_code == 409 and "unknown cell" in refused.text


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_is_written_over_http(client, store, method):
    before = sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*"))
    for address in ("/", "/stores/0/", "/stores/0/state.json", "/stores/0/compare"):
        assert client.request(method, address).status_code == 405
        assert client.get(address).status_code == 200
    assert sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*")) == before


@pytest.mark.parametrize(
    "address",
    [
        "/stores/1/", "/stores/-1/", "/stores/0/../../etc/passwd", "/stores/0/%2e%2e/%2e%2e/etc/passwd",
        "/stores/0/record.json", "/etc/passwd", "//etc/passwd", "/stores/0/experiment.json",
    ],
)  # fmt: skip
def test_no_file_is_served(client, address):
    assert client.get(address).status_code == 404


def test_other_host_names_are_refused(store):
    client = TestClient(server.app([store], ["127.0.0.1"]), base_url="http://evil.example")
    assert client.get("/").status_code == 400


def test_what_a_record_says_is_no_markup(store):
    record = fixture.record("margin", 9)
    record.id, record.status = "margin-x", "failed"
    record.error = "</script><script>alert(1)</script>"
    record.save(store / record.id)
    page = TestClient(server.app([store], ["testserver"])).get("/stores/0/").text
    assert "<script>alert(1)" not in page


@pytest.mark.slow
def test_the_command_serves_until_it_is_stopped(store):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "dmlplayground", "serve", str(store), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().startswith(f"http://127.0.0.1:{port}/")
            for _ in range(100):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stores/0/state.json") as answer:
                        assert json.load(answer)["states"]["finished"] > 3
                    break
                except urllib.error.URLError:
                    time.sleep(0.1)
            else:
                pytest.fail("no answer")
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
    assert "Traceback" not in errors


def test_a_store_that_is_not_there(tmp_path):
    command = [sys.executable, "-m", "dmlplayground", "serve", str(tmp_path / "none")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2 and "there is no store at" in result.stderr


def test_an_address_that_is_taken_is_refused(store):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "dmlplayground", "serve", str(store), "--port", str(port)]
        result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in result.stderr


def test_a_store_is_served_beside_other_work(store):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server.serve_beside([store], "127.0.0.1", port)
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/stores/0/state.json") as answer:
                assert json.load(answer)["states"]["finished"] > 3
            return
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail("no answer")
