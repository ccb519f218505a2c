"""Kill -9 in the middle of indexing, at random moments: nothing committed is lost, nothing needs repair."""

import os
import random
import subprocess
import sys
from pathlib import Path

from citewell import Index

KILLS = int(os.environ.get("CITEWELL_TEST_KILLS", "3"))
FILES = 240


def write_files(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        facts = "\n\n".join(f"## Part {part}\n\nFile {number} says {number * 31 + part}." for part in range(8))
        (folder / f"{number:03}.md").write_text(f"# File {number}\n\n{facts}\n", encoding="utf-8")


def index_and_kill(folder: Path, index: Path, after_s: float) -> bool:
    """Start `citewell index`, kill it after so many seconds, and say whether it was still running."""
    command = [sys.executable, "-m", "citewell", "index", str(folder), "--index", str(index)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def test_a_kill_loses_nothing_committed(tmp_path: Path) -> None:
    folder, path = tmp_path / "files", tmp_path / "index"
    write_files(folder)
    rng = random.Random(os.getpid())
    committed: set[str] = set()
    killed = 0
    for _ in range(KILLS):
        killed += index_and_kill(folder, path, rng.uniform(1.0, 6.0))
        if not (path / "manifest.json").exists():
            continue
        with Index.open(path) as index:
            now = {document.id for document in index.documents()}
            assert committed <= now
            committed = now
            for document in index.documents():
                assert len(index.chunks(document.id)) == 8
            if now:
                assert index.search("What does file 3 say?", k=5)
    assert killed > 0
    with Index.open(path) if (path / "manifest.json").exists() else Index.create(path) as index:
        report = index.add(folder)
        assert report.embedded == (FILES - len(committed)) * 8
        assert index.status().documents == FILES
        assert index.status().chunks == FILES * 8
        assert index.add(folder).embedded == 0
