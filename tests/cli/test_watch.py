"""`index --watch`, in a process of its own: the index follows the files."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.cli.conftest import Run, another_writer

PATIENCE_S = 60.0


class Watching:
    """A `citewell index --watch` under way."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        assert process.stderr is not None
        self._out, self._err = _lines(process.stdout), _lines(process.stderr)

    def line(self, words: str = "") -> str:
        """The next line that holds these words, on standard output."""
        return _next(self._out, words)

    def complaint(self, words: str = "") -> str:
        """The next line that holds these words, on standard error."""
        return _next(self._err, words)

    def report(self) -> dict[str, str]:
        """The next run's: what became of each file that is not as it was."""
        files = json.loads(self.line())["files"]
        return {Path(file["source"]).name: file["state"] for file in files if file["state"] != "unchanged"}

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


def _next(lines: queue.Queue[str], words: str) -> str:
    while words not in (line := lines.get(timeout=PATIENCE_S)):
        pass
    return line


def _lines(stream: IO[str]) -> queue.Queue[str]:
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))

    threading.Thread(target=read, daemon=True).start()
    return lines


@contextmanager
def watching(*arguments: str) -> Iterator[Watching]:
    command = [sys.executable, "-m", "citewell", "index", *arguments, "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Watching(process)
        finally:
            process.kill()


def test_the_index_follows_the_files(manuals: Path, citewell: Run) -> None:
    with watching("manuals", "--json") as watch:
        assert watch.complaint() == "citewell: watching manuals; Ctrl-C ends it"
        assert set(watch.report().values()) == {"added"}

        (manuals / "new").mkdir()
        (manuals / "new" / "cheques.md").write_text("# Cheques\n\nCheques are no longer accepted.\n")
        assert watch.report() == {"cheques.md": "added"}
        assert "no longer accepted" in citewell("search", "cheques").out

        (manuals / "new" / "cheques.md").write_text("# Cheques\n\nCheques are accepted on Mondays.\n")
        assert watch.report() == {"cheques.md": "updated"}
        assert "on Mondays" in citewell("search", "cheques").out

        (manuals / "new").rename(manuals / "old")
        assert watch.report() == {"cheques.md": "renamed"}

        (manuals / "citewell-access.toml").write_text('[[rule]]\nmatch = "old/**"\ngroups = ["board"]\n')
        named = ("cheques.md", "manual-2025.md", "manual-2026.md", "scoring.md")
        assert watch.report() == dict.fromkeys(named, "updated")
        assert "Mondays" not in citewell("search", "cheques").out

        shutil.rmtree(manuals / "old")
        assert watch.report() == {"cheques.md": "removed"}
        assert watch.stop() == 130
        assert citewell("documents", "--json").out.count('"title"') == 4


def test_what_goes_wrong_is_told_and_the_watch_goes_on(manuals: Path, citewell: Run) -> None:
    with watching("manuals") as watch:
        watch.line("4 added")
        (manuals / "citewell-access.toml").write_text("[[rule]\n")
        watch.complaint("is not valid TOML")
        assert watch.complaint() == "  Correct that line. The watch goes on, and tries again."
        (manuals / "citewell-access.toml").unlink()
        watch.line("3 updated, 1 unchanged")

        with another_writer(Path(".citewell")) as pid:
            (manuals / "letter.md").unlink()
            watch.complaint(f"is being written to by process {pid} on ")
        watch.line("removed  manuals/letter.md")

        shutil.rmtree(manuals)
        watch.complaint("There is no file or folder manuals.")
        assert "`citewell delete manuals` takes it out." in watch.complaint()
        assert watch.stop() == 130
        assert watch.complaint() == "citewell: stopped; everything committed so far is kept"
    assert citewell("documents", "--json").out.count('"title"') == 3


def test_it_may_begin_before_there_is_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inbox").mkdir()
    with watching("inbox", "--json") as watch:
        error: Any = json.loads(watch.line())["error"]
        assert (error["kind"], error["message"]) == ("PathError", "There is nothing to index in inbox.")
        Path("inbox/note.md").write_text("# Note\n\nThe first.\n")
        assert watch.report() == {"note.md": "added"}
        assert watch.stop() == 130


def test_a_path_that_is_not_there_is_refused_at_once(bank: Path, citewell: Run) -> None:
    ran = citewell("index", "nowhere", "--watch")
    assert (ran.code, ran.out) == (2, "")
    assert "There is no file or folder nowhere." in ran.err
