from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.errors import NotAFile, PathError, SettingsError
from citewell.loading import SourceFile, discover, read
from citewell.settings import Loading

NOBODY = 65534


def names(files: list[SourceFile], base: Path) -> list[str]:
    return [file.path.relative_to(base).as_posix() for file in files]


def make(base: Path, *paths: str) -> None:
    for path in paths:
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        (base / path).write_text("text", encoding="utf-8")


def test_folders_are_walked_in_order_without_what_is_hidden(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.txt", "a/y.txt", ".hidden.txt", ".git/config", "a/citewell-access.toml", "c/d/e.txt")
    files = discover([tmp_path]).files
    assert names(files, tmp_path) == ["a/y.txt", "a/z.txt", "b.txt", "c/d/e.txt"]
    assert all(file.problem is None for file in files)


def test_the_index_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "index/data.lance", "index2/b.txt")
    assert names(discover([tmp_path], skip=tmp_path / "index").files, tmp_path) == ["a.txt", "index2/b.txt"]


def test_a_file_has_one_source_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "in/a b.txt", "c.txt")
    monkeypatch.chdir(tmp_path / "in")
    files = discover([Path("a b.txt"), tmp_path, Path("../in/a b.txt")]).files
    assert names(files, tmp_path) == ["in/a b.txt", "c.txt"]
    assert files[0].source == (tmp_path / "in" / "a b.txt").as_uri()
    assert files[0].source.endswith("/in/a%20b.txt")


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert discover([tmp_path]).files == []


def test_hidden_files_are_taken_when_they_are_named(tmp_path: Path) -> None:
    make(tmp_path, ".notes/a.txt")
    assert names(discover([tmp_path / ".notes"]).files, tmp_path) == [".notes/a.txt"]


@pytest.mark.parametrize("missing", ["gone", "a.txt/inside"])
def test_a_missing_path_is_an_error(tmp_path: Path, missing: str) -> None:
    make(tmp_path, "a.txt")
    with pytest.raises(PathError, match=missing):
        discover([tmp_path / "a.txt", tmp_path / missing])


def test_a_named_link_is_followed_and_one_inside_a_folder_reported(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.txt", "docs/a.txt")
    (tmp_path / "docs" / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (tmp_path / "docs" / "more").symlink_to(tmp_path / "outside")
    (tmp_path / "way").symlink_to(tmp_path / "docs")
    files = discover([tmp_path / "way"]).files
    assert names(files, tmp_path) == ["docs/a.txt", "docs/link.txt", "docs/more"]
    assert [file.problem is not None for file in files] == [False, True, True]
    assert "symbolic link" in str(files[1].problem)
    with pytest.raises(NotAFile, match="symbolic link"):
        read(files[1], Loading())


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(PathError):
        discover([tmp_path / "a"])


def test_pipes_and_sockets_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # A socket's path must be short.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        files = discover([tmp_path]).files
    assert [str(file.problem).split(",", maxsplit=1)[0] for file in files] == ["It is a named pipe", "It is a socket"]
    with pytest.raises(PathError, match="named pipe"):
        discover([tmp_path / "pipe"])


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter, which pytest's own is not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


AS_NOBODY = """
import json, os, sys
from pathlib import Path
from citewell.errors import CitewellError
from citewell.loading import discover, read
from citewell.settings import Loading
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(int(sys.argv[2]))
def attempt(step):
    try:
        return step()
    except CitewellError as error:
        return type(error).__name__
base = Path(sys.argv[1])
files = discover([base]).files
print(json.dumps({
    "found": [[one.path.name, one.problem is None, attempt(lambda: read(one, Loading()).decode())] for one in files],
    "folder": attempt(lambda: discover([base / "closed"])),
    "file": attempt(lambda: discover([base / "shut.txt"])),
    "inside": attempt(lambda: discover([base / "closed" / "x.txt"])),
}))
"""


def test_what_may_not_be_read_is_reported_and_stops_nothing(open_folder: Path) -> None:
    make(open_folder, "a.txt", "closed/x.txt", "shut.txt", "z.txt")
    (open_folder / "closed").chmod(0)
    (open_folder / "shut.txt").chmod(0)
    try:
        # Root may read everything, so a root user's test gives its rights up first.
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(open_folder), str(NOBODY)], capture_output=True, text=True, check=True
        )
    finally:
        (open_folder / "closed").chmod(0o755)
    assert json.loads(done.stdout) == {
        "found": [
            ["a.txt", True, "text"],
            ["closed", False, "LoadError"],
            ["shut.txt", True, "LoadError"],
            ["z.txt", True, "text"],
        ],
        "folder": "PermissionRefused",
        "file": "PermissionRefused",
        "inside": "PermissionRefused",
    }


def test_ignore_globs_are_for_names_or_with_a_slash_for_paths(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.txt",
        "node_modules/x/y.js",
        "sub/node_modules/z.js",
        "~$a.docx",
        "drafts/b.txt",
        "sub/drafts/c.txt",
    )
    found = discover([tmp_path], ignore=("node_modules", "~$*", "drafts/*.txt"))
    assert names(found.files, tmp_path) == ["a.txt", "sub/drafts/c.txt"]
    assert found.ignored == 4
    assert names(discover([tmp_path / "node_modules"], ignore=("node_modules",)).files, tmp_path) == [
        "node_modules/x/y.js"
    ]


def test_a_wrong_ignore_glob_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    with pytest.raises(SettingsError, match=r"loading\.ignore: 'a\[': a \[ that opens no set"):
        discover([tmp_path], ignore=("a[",))


def test_folders_a_thousand_deep(tmp_path: Path) -> None:
    deep = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_100):  # too deep for a path to name in one go
        os.mkdir("d", dir_fd=deep)
        inner = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    make(tmp_path, "z.txt")
    try:
        assert names(discover([tmp_path]).files, tmp_path) == ["z.txt"]
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_side_files_are_not_documents(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "a.txt.citewell.toml")
    assert names(discover([tmp_path]).files, tmp_path) == ["a.txt"]


def test_what_the_service_keeps_is_no_document_but_where_it_is_named(tmp_path: Path) -> None:
    state = tmp_path / "docs" / "service"
    (state / "uploads" / "ann").mkdir(parents=True)
    (state / "service.sqlite3").touch()
    (state / "audit.jsonl").write_text("{}")
    upload = state / "uploads" / "ann" / "plan.md"
    upload.write_text("A plan.")
    (tmp_path / "docs" / "a.md").write_text("A text.")
    docs = tmp_path / "docs"
    assert names(discover([docs]).files, docs) == ["a.md"]
    assert names(discover([docs, upload]).files, docs) == ["a.md", "service/uploads/ann/plan.md"]
    assert discover([state]).files == []
