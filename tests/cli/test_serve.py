"""`citewell keys` and `citewell serve`, the latter as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Run

QUESTION = "How many days does a customer have to dispute a card payment?"


def test_a_key_is_shown_once_listed_and_revoked(citewell: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = citewell("keys", "add", "ann", "--scope", "write", "--group", "fraud_team", "--expires", "2099-01-31")
    assert made.code == 0
    (token,) = made.out.splitlines()
    assert token.startswith("cw_"), "what is printed is the key alone: KEY=$(citewell keys add ann)"
    key_id = re.findall(r"key (\w+) of ann", made.err)[0]
    listed = citewell("keys", "list")
    assert re.search(rf"^{key_id}\s+ann\s+write\s+fraud_team\s+\S+\s+until 2099-01-31$", listed.out, re.MULTILINE)
    assert token not in listed.out
    assert citewell("keys", "revoke", key_id).code == 0
    (shown,) = citewell("keys", "list", "--json").json["keys"]
    assert (shown["id"], shown["holds"], shown["groups"]) == (key_id, False, ["fraud_team"])
    assert citewell("keys", "revoke", "none").code == 2
    assert citewell("keys", "add", "x", "--scope", "all").code == 2
    assert citewell("keys", "add", "x", "--expires", "2001-01-01").code == 2
    assert citewell("keys", "add", "x", "--json").json["token"].startswith("cw_")


def test_without_keys_it_is_for_this_machine_alone(citewell: Run, bank: Path) -> None:
    for host in ("192.168.0.7", "example.org", "::"):
        refused = citewell("serve", "--no-auth", "--host", host)
        assert refused.code == 2
        assert "open to all" in refused.err


@pytest.mark.parametrize("workers", [1, 2])
def test_it_serves_until_a_signal_and_ends_well(
    citewell: Run, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    settings = tmp_path / "citewell.toml"
    settings.write_text(f"[service]\nstate = {json.dumps(str(tmp_path / 'state'))}\n")
    token = citewell("keys", "add", "ann", "--scope", "admin", "--settings", settings, "--json").json["token"]
    command = [sys.executable, "-m", "citewell", "serve", "--port", "0", "--workers", str(workers)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command += ["--settings", str(settings)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        told = b""
        try:
            while b"running on" not in told or told.count(b"startup complete") < workers:
                line = process.stderr.readline()
                assert line, told
                told += line
            url = re.findall(rb"(http://127\.0\.0\.1:\d+)", told)[0].decode()
            with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=120) as client:
                for _ in range(4):
                    answer = client.post("/v1/ask", json={"question": QUESTION})
                    assert answer.status_code == 200
                    assert "server" not in answer.headers
                numbers = client.get("/metrics").text
            assert 'citewell_answers_total{outcome="answered"} 4.0' in numbers
        finally:
            process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait() in (0, -signal.SIGTERM)
    log = (told + rest).decode()
    assert "POST /v1/ask 200" in log
    assert token not in log
    assert QUESTION not in log
    assert "Traceback" not in log


def test_a_port_that_is_taken_is_told_with_what_to_do(citewell: Run, bank: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = citewell("serve", "--port", str(port), "--index", str(bank / ".citewell"))
    assert ran.code == 3
    assert f"Nothing can listen on port {port} of 127.0.0.1" in ran.err
    assert "--port" in ran.err
