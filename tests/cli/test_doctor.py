"""`doctor`: every check as data, and each fault that it is there to find."""

from __future__ import annotations

import json
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from citewell.cli import checks
from citewell.cli.checks import Severity
from tests.cli.conftest import Run, another_writer

CHECKS = ["versions", "settings", "model", "embedder", "index", "tables", "fingerprint", "analyser", "writing", "disk"]


@pytest.fixture
def index(bank: Path, tmp_path: Path) -> Path:
    """A copy of the bank's index, to be damaged."""
    return Path(shutil.copytree(bank / ".citewell", tmp_path / "x"))


def edit_manifest(index: Path, **changes: object) -> None:
    path = index / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def finding(run: Run, name: str, *arguments: str | Path) -> tuple[int, dict[str, str]]:
    ran = run("doctor", *arguments, "--json")
    return ran.code, next(check for check in ran.json["checks"] if check["name"] == name)


def test_a_sound_index_passes_every_check(bank: Path, citewell: Run) -> None:
    ran = citewell("doctor", "--json")
    assert ran.code == 0
    assert list(ran.json) == ["version", "healthy", "checks"]
    assert (ran.json["version"], ran.json["healthy"]) == (1, True)
    assert [check["name"] for check in ran.json["checks"]] == CHECKS
    assert all(list(check) == ["name", "severity", "message", "remedy"] for check in ran.json["checks"])
    assert {check["severity"] for check in ran.json["checks"]} == {"ok"}
    lines = citewell("doctor").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["✓", name] for name in CHECKS]


def test_without_an_index_the_installation_is_still_checked(tmp_path: Path, citewell: Run) -> None:
    ran = citewell("doctor", "--index", tmp_path / "x", "--json")
    assert (ran.code, ran.json["healthy"]) == (0, True)
    last = ran.json["checks"][-1]
    assert (last["name"], last["severity"]) == ("index", "warning")
    assert "citewell index" in last["remedy"]
    assert not (tmp_path / "x").exists()


def test_another_format_is_an_error(index: Path, citewell: Run) -> None:
    edit_manifest(index, format=99)
    code, check = finding(citewell, "index", "--index", index)
    assert (code, check["severity"]) == (1, "error")
    assert "format 99" in check["message"]
    assert check["remedy"]


def test_tables_that_disagree_with_the_manifest_are_an_error(index: Path, citewell: Run) -> None:
    edit_manifest(index, counts={"documents": 4, "chunks": 999, "entries": 999})
    code, check = finding(citewell, "tables", "--index", index)
    assert (code, check["severity"]) == (1, "error")
    assert "the manifest says 4, 999, 999" in check["message"]


def test_missing_tables_are_an_error(index: Path, citewell: Run) -> None:
    shutil.rmtree(index / "tables")
    code, check = finding(citewell, "tables", "--index", index)
    assert (code, check["severity"]) == (1, "error")


def test_a_run_cut_short_is_a_warning(index: Path, citewell: Run) -> None:
    edit_manifest(index, settled=False)
    code, check = finding(citewell, "tables", "--index", index)
    assert (code, check["severity"]) == (0, "warning")


def test_another_model_is_an_error(index: Path, citewell: Run) -> None:
    canaries = json.loads((index / "manifest.json").read_text())["canaries"]
    edit_manifest(index, canaries=[[-number for number in vector] for vector in canaries])
    code, check = finding(citewell, "fingerprint", "--index", index)
    assert (code, check["severity"]) == (1, "error")


def test_another_analyser_is_a_warning(index: Path, citewell: Run) -> None:
    edit_manifest(index, analyser="0")
    code, check = finding(citewell, "analyser", "--index", index)
    assert (code, check["severity"]) == (0, "warning")


def test_a_writer_at_work_is_named(index: Path, citewell: Run) -> None:
    with another_writer(index) as pid:
        code, check = finding(citewell, "writing", "--index", index)
    assert (code, check["severity"]) == (0, "ok")
    assert f"is being written to by process {pid} on " in check["message"]


def test_broken_settings_are_an_error(tmp_path: Path, citewell: Run) -> None:
    path = tmp_path / "s.toml"
    path.write_text("presett = 1\n")
    code, check = finding(citewell, "settings", "--settings", path, "--index", tmp_path / "x")
    assert (code, check["severity"]) == (1, "error")
    assert "presett: unknown key" in check["message"]
    printed = citewell("doctor", "--settings", path, "--index", tmp_path / "x")
    assert printed.code == 1
    assert "✗  settings" in printed.out


def test_other_versions_than_the_pinned_ones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ["numpy==0.0.1", "no-such-package==1", 'x==1; extra == "dev"'])
    found = checks.versions()
    assert found.severity is Severity.WARNING
    assert found.message == f"numpy {metadata.version('numpy')}, 0.0.1 wanted; no-such-package missing, 1 wanted"


def test_a_damaged_model_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    assert checks.model_file() == checks.Finding("model.onnx is missing", Severity.ERROR, checks.REINSTALL)
    (tmp_path / "minilm").mkdir()
    (tmp_path / "minilm" / "model.onnx").write_bytes(b"cut off")
    assert "expected" in checks.model_file().message
    assert checks.model_file().severity is Severity.ERROR


def test_a_full_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LEAST_FREE_BYTES", 10**18)
    assert checks.disk(tmp_path).severity is Severity.WARNING
