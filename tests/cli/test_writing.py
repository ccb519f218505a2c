"""`index`: the report, what changes, and what a folder of odd files does."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from citewell.errors import ServiceRefused
from citewell.models.minilm import MiniLM
from tests.cli.conftest import Run

FILE_KEYS = {"source", "state", "reason", "chunks", "pages", "warnings"}


def states(run: Run, *arguments: str | Path) -> dict[str, str]:
    report = run("index", *arguments, "--json").json
    return {Path(file["source"]).name: file["state"] for file in report["files"]}


def test_the_first_run_makes_the_index_and_lists_what_it_added(manuals: Path, citewell: Run) -> None:
    ran = citewell("index", "manuals")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[1] == "added  manuals/manual-2025.md: 1 chunk"
    assert lines[-1].startswith("4 added; ")
    assert "passages embedded in" in lines[-1]
    assert (manuals.parent / ".citewell").is_dir()


def test_index_as_json(manuals: Path, citewell: Run) -> None:
    ran = citewell("index", "manuals", "--json")
    assert (ran.code, ran.err) == (0, "")
    report = ran.json
    assert list(report) == ["version", "files", "embedded", "seconds", "ignored", "usage", "warnings"]
    assert (report["version"], len(report["files"])) == (1, 4)
    assert all(set(file) == FILE_KEYS for file in report["files"])
    first = report["files"][0]
    assert first["source"] == (manuals / "letter.md").as_uri()
    assert (first["state"], first["reason"], first["chunks"]) == ("added", "", 1)
    assert first["pages"] == {"text": 0, "ocr": 0, "blank": 0, "failed": 0, "suspicious": 0, "skipped": 0}
    assert report["embedded"] >= 4


def test_a_later_run_tells_what_changed(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    assert set(states(citewell, "manuals").values()) == {"unchanged"}
    unchanged = citewell("index", "manuals").out
    assert unchanged.startswith("4 unchanged; 0 passages embedded in ")
    (manuals / "letter.md").unlink()
    (manuals / "scoring.md").write_text("# Scoring\n\nTen payments within one hour.\n")
    (manuals / "new.md").write_text("# Cheques\n\nCheques are no longer accepted.\n")
    assert states(citewell, "manuals") == {
        "letter.md": "removed",
        "manual-2025.md": "unchanged",
        "manual-2026.md": "unchanged",
        "new.md": "added",
        "scoring.md": "updated",
    }


def test_files_that_fail_are_listed_with_the_reason_and_do_not_stop_the_others(manuals: Path, citewell: Run) -> None:
    (manuals / "empty.md").write_bytes(b"")
    (manuals / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really")
    (manuals / "bell\x07.docx").write_bytes(b"PK\x03\x04 cut off")
    ran = citewell("index", "manuals")
    assert ran.code == 1
    failed = [line for line in ran.out.splitlines() if line.startswith("failed")]
    assert sorted(line.split()[1] for line in failed) == [
        "manuals/bell.docx:",
        "manuals/broken.pdf:",
    ]
    assert "skipped  manuals/empty.md: The file is empty." in ran.out
    assert all(len(line.split()) > 5 for line in failed)
    assert ran.out.splitlines()[-1].startswith("4 added, 2 failed, 1 skipped; ")
    assert "120 days" in citewell("ask", "How many days to dispute a card payment?").out


def test_many_new_files_are_counted_and_not_listed(manuals: Path, citewell: Run) -> None:
    for number in range(17):
        (manuals / f"note-{number}.md").write_text(f"# Note {number}\n\nThe branch opens at {number}.\n")
    assert citewell("index", "manuals").out.startswith("21 added; ")


def test_the_index_lies_where_the_option_or_the_environment_says(manuals: Path, citewell: Run, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    citewell("index", "manuals", "--index", "here")
    assert (manuals.parent / "here").is_dir()
    monkeypatch.setenv("CITEWELL_INDEX", "here")
    assert citewell("status", "--json").json["documents"] == 4
    assert not (manuals.parent / ".citewell").exists()


def test_settings_are_read_from_the_option_or_the_current_folder(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    (manuals.parent / "citewell.toml").write_text("[retrieval]\nkeep = 1\n")
    (manuals.parent / "other.toml").write_text("[retrieval]\nkeep = 2\n")
    assert len(citewell("search", "card payment", "--json").json["hits"]) == 1
    assert len(citewell("search", "card payment", "--json", "--settings", "other.toml").json["hits"]) == 2


def test_a_file_with_another_name_is_renamed(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    (manuals / "letter.md").rename(manuals / "mail.md")
    ran = citewell("index", "manuals")
    assert ran.out.splitlines()[0] == "renamed  manuals/mail.md: was manuals/letter.md"
    assert ran.out.splitlines()[-1].startswith("1 renamed, 3 unchanged; 0 passages embedded in ")
    assert "ferry" in citewell("search", "umbrella stolen on the ferry").out


def test_many_renamed_files_are_counted_and_not_listed(manuals: Path, citewell: Run) -> None:
    notes = manuals / "notes"
    notes.mkdir()
    for number in range(21):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nThe branch opens at {number}.\n")
    citewell("index", "manuals")
    notes.rename(manuals / "old")
    assert citewell("index", "manuals").out.startswith("21 renamed, 4 unchanged; 0 passages embedded")


def test_an_emptied_folder_is_emptied_with_a_warning(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    Path("other.md").write_text("# Other\n\nSomething else.\n")
    for file in manuals.iterdir():
        file.unlink()
    ran = citewell("index", "manuals", "other.md")
    assert ran.code == 0
    assert ran.err == (
        "citewell: manuals holds nothing to index any more; documents of it that were removed from the index: 4. "
        "For 30 days they can be brought back: `citewell history` lists them. When its files are there again, index it "
        "again.\n"
    )
    assert ran.out.splitlines()[-1].startswith("1 added, 4 removed; ")
    assert citewell("index", "manuals", "other.md").err == ""


def test_a_folder_that_is_not_there_is_told_apart(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    manuals.rename("away")
    ran = citewell("index", "manuals")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "citewell: There is no file or folder manuals.",
        "  What was there is still in the index; `citewell delete manuals` takes it out.",
    ]
    assert citewell("status", "--json").json["documents"] == 4
    assert citewell("delete", "manuals", "--json").json["removed"][0]["parts"]["texts"] == 1
    assert citewell("status", "--json").json["documents"] == 0


def test_a_run_that_a_service_stops_prints_its_report(
    manuals: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    citewell("index", "manuals")

    def scripted_quota(*_: object) -> None:
        raise ServiceRefused("The quota is used up.", remedy="Wait for a month.")

    monkeypatch.setattr(MiniLM, "embed_passage_tokens", scripted_quota)
    monkeypatch.setattr("citewell.index.require_same_space", lambda *_: None)
    (manuals / "new.md").write_text("# Cheques\n\nCheques are no longer accepted.\n")
    ran = citewell("index", "manuals")
    assert ran.code == 4
    assert ran.out.splitlines()[0] == "failed  manuals/new.md: The run stopped before it was indexed."
    assert ran.err == "citewell: The quota is used up.\n  Wait for a month.\n"
    report = citewell("index", "manuals", "--json").json
    assert list(report) == ["version", "files", "embedded", "seconds", "ignored", "usage", "warnings", "error"]
    assert report["error"] == {
        "kind": "IndexingStopped",
        "message": "The quota is used up.",
        "remedy": "Wait for a month.",
    }
    assert len(report["files"]) == 5


def test_a_terminal_gets_a_bar_and_colours_and_a_pipe_does_not(manuals: Path) -> None:
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "citewell", "index", "manuals"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=terminal, env=os.environ | {"TERM": "xterm"}, check=True
    )
    os.close(terminal)
    data = b""
    with suppress(OSError):  # which is how a terminal that nobody writes to any more says so
        while more := os.read(screen, 100_000):
            data += more
    os.close(screen)
    drawn = data.decode()
    assert "/4" in drawn
    assert "━" in drawn
    # Which of the files is named depends on when the bar is drawn.
    assert re.search(r"embedded  manuals/(letter|manual-2025|manual-2026|scoring)\.md", drawn)
    assert b"\x1b" not in done.stdout
    assert b"\n4 added; " in done.stdout
