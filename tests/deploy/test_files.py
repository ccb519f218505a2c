"""The files of `deploy/`: nothing here can build an image or start systemd, so what can be checked without is."""

from __future__ import annotations

import ipaddress
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from citewell.cli.program import app
from citewell.serving.app import MB
from citewell.serving.guard import MAX_BODY, OPEN
from citewell.serving.running import FINISH_S
from citewell.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PORT = 8480


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line)]


def said(name: str) -> list[str]:
    return [rest for each, rest in instructions() if each == name]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def unit() -> dict[str, list[str]]:
    lines = (DEPLOY / "citewell.service").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[str]] = {}
    for name, is_set, value in (line.partition("=") for line in lines if not line.startswith("#")):
        if is_set:
            found.setdefault(name, []).append(value)
    return found


def parsed(arguments: list[str]) -> dict[str, Any]:
    """What our own program makes of a command line."""
    commands = typer.main.get_command(app)
    name, command, rest = commands.resolve_command(typer.Context(commands), arguments)  # type: ignore[attr-defined]
    assert name == "serve"
    parameters: dict[str, Any] = command.make_context(name, rest).params
    return parameters


def is_sent(path: str) -> bool:
    """Whether a build is sent that path: the last rule that fits it, or a folder above it, decides."""
    sent = True
    for rule in (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = rule.removeprefix("!").removeprefix("**/")
        parts = Path(path).parts
        above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        if not rule.startswith("#") and any(fnmatch(one, pattern) or fnmatch(Path(one).name, pattern) for one in above):
            sent = rule.startswith("!")
    return sent


def test_the_image_copies_what_is_there_and_sent() -> None:
    sources = [
        source
        for rest in said("COPY")
        if "--from=" not in rest
        for source in [part for part in rest.split() if not part.startswith("--")][:-1]
    ]
    assert sorted(sources) == ["LICENSE", "README.md", "deploy/entrypoint.sh", "pyproject.toml", "src"]
    for source in sources:
        assert (ROOT / source).exists()
        assert is_sent(source)
    for name in (
        ".venv/bin/python",
        "deploy/secrets/database_password",
        ".citewell/index.json",
        "src/__pycache__/a.pyc",
    ):
        assert not is_sent(name)


def test_the_image_runs_as_nobody_special() -> None:
    last = len(instructions()) - 1 - [name for name, _ in reversed(instructions())].index("FROM")
    users = [rest for name, rest in instructions()[last:] if name == "USER"]
    assert users == ["10001"]
    assert "useradd --uid 10001" in " ".join(said("RUN"))


def test_the_image_has_a_python_that_the_package_takes() -> None:
    found = {re.fullmatch(r"python:3\.(\d+)-slim(?: AS build)?", rest) for rest in said("FROM")}
    least = re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])
    assert least
    assert all(version and int(version[1]) >= int(least[1]) for version in found)


def test_extras_are_those_of_the_package() -> None:
    built = compose()["services"]["citewell"]["build"]["args"]["EXTRAS"]
    assert said("ARG") == ["EXTRAS=serve,mcp"]
    assert built == "serve,mcp,postgres"
    assert set(built.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_the_health_check_asks_what_is_open_to_all() -> None:
    (check,) = said("HEALTHCHECK")
    asked = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)'", check)
    assert asked
    assert (int(asked[1]), said("EXPOSE")) == (PORT, [str(PORT)])
    assert asked[2] in OPEN
    command = yaml.safe_load(check.partition("CMD ")[2])

    def code(port: int) -> int:
        there = [sys.executable, *command[1:-1], command[-1].replace(str(PORT), str(port))]
        return subprocess.run(there, capture_output=True, timeout=30, check=False).returncode

    with HTTPServer(("127.0.0.1", 0), _Healthy) as answering:
        threading.Thread(target=answering.handle_request, daemon=True).start()
        assert code(answering.server_port) == 0
    assert code(1) != 0


class _Healthy(BaseHTTPRequestHandler):
    """Answers the one address that the check may ask for."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_hadolint_finds_nothing() -> None:
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_start_is_one_that_the_program_takes() -> None:
    (image,) = said("CMD")
    composed = compose()["services"]["citewell"]["command"]
    (started,) = unit()["ExecStart"]
    program, *arguments = shlex.split(started)
    assert program == "/opt/citewell/bin/citewell"
    for line in (yaml.safe_load(image), composed):
        assert ipaddress.ip_address(parsed(line)["host"]).is_unspecified  # which address of the host, `ports` says
    assert ipaddress.ip_address(parsed(arguments)["host"]).is_loopback
    assert [
        (parsed(line)["port"], parsed(line)["no_auth"]) for line in (yaml.safe_load(image), composed, arguments)
    ] == [(PORT, False)] * 3


@pytest.mark.parametrize(("files", "status"), [({"PGPASSWORD": "p$1 'x\""}, 0), ({"PGPASSWORD": None}, 1)])
def test_the_entry_point_reads_secrets_from_files(tmp_path: Path, files: dict[str, str | None], status: int) -> None:
    (tmp_path / "citewell").write_text('#!/bin/sh\nprintf "%s|%s|%s" "$PGPASSWORD" "${CITEWELL_LLM_API_KEY-}" "$*"\n')
    (tmp_path / "citewell").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for name, text in files.items():
        environment[f"{name}_FILE"] = str(tmp_path / name)
        if text is not None:
            (tmp_path / name).write_text(text + "\n")
    done = subprocess.run(
        [DEPLOY / "entrypoint.sh", "serve", "--workers", "2"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode == 0) == (status == 0)
    assert done.stdout == ("" if status else f"{files['PGPASSWORD']}||serve --workers 2")


def test_compose_names_what_it_declares() -> None:
    file = compose()
    assert file.keys() == {"name", "services", "volumes", "secrets"}
    for service in file["services"].values():
        assert set(service["secrets"]) <= file["secrets"].keys()
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= file["volumes"].keys()
        for needed, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert file["services"][needed]["healthcheck"]["test"]
    build = file["services"]["citewell"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_compose_holds_no_password() -> None:
    file = compose()
    for service in file["services"].values():
        for name, value in service["environment"].items():
            if re.search("PASSWORD|KEY|TOKEN|SECRET", name):
                assert name.endswith("_FILE")
                assert value.removeprefix("/run/secrets/") in service["secrets"]
            assert not re.search(r"://[^@/]*:[^@/]*@", value)
    for secret in file["secrets"].values():
        assert secret.keys() == {"file"}
        assert secret["file"].removeprefix("./").startswith("secrets/")
    assert "secrets/" in (DEPLOY / ".gitignore").read_text()


def test_compose_gives_the_service_little() -> None:
    service, database = compose()["services"]["citewell"], compose()["services"]["database"]
    assert service["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert "ports" not in database
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert "no-new-privileges:true" in service["security_opt"]
    assert int(service["stop_grace_period"].removesuffix("s")) > FINISH_S
    (room,) = re.findall(r"size=(\d+)m", service["tmpfs"][0])
    assert int(room) > Settings().service.max_upload_mb


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    program = tmp_path / "citewell"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    there = tmp_path / "citewell.service"
    text = (DEPLOY / "citewell.service").read_text(encoding="utf-8")
    there.write_text(text.replace("/opt/citewell/bin/citewell", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", there], capture_output=True, text=True, timeout=60)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "citewell" in line]) == (0, [])
    judged = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(there)]
    done = subprocess.run(judged, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-300:]


def test_the_unit_gives_the_service_little() -> None:
    found = {name: values[-1] for name, values in unit().items()}
    expected = {
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "CapabilityBoundingSet": "",
        "User": "citewell",
        "StateDirectory": "citewell",
        "StateDirectoryMode": "0700",
        "KillMode": "mixed",
    }
    assert {name: found[name] for name in expected} == expected
    assert found["WorkingDirectory"] == f"/var/lib/{found['StateDirectory']}"
    assert int(found["TimeoutStopSec"]) > FINISH_S
    secret = [value for value in unit().get("Environment", []) if re.search("PASSWORD|API_KEY|TOKEN", value)]
    assert secret == []


def test_the_proxy_passes_what_the_service_takes() -> None:
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    assert text.count("{") == text.count("}")
    says = dict(re.findall(r"^\s*(\w+) ([^;{]+);$", text, re.MULTILINE))
    assert int(says["client_max_body_size"].removesuffix("m")) << 20 >= Settings().service.max_upload_mb * MB + MAX_BODY
    assert (says["proxy_buffering"], says["proxy_pass"]) == ("off", f"http://127.0.0.1:{PORT}")
    assert "proxy_set_header Host $host;" in text


@pytest.mark.parametrize("name", ["backup.sh", "entrypoint.sh"])
def test_a_script_is_one(name: str) -> None:
    assert os.access(DEPLOY / name, os.X_OK)
    done = subprocess.run(["sh", "-n", DEPLOY / name], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
