"""W9, upload names, the parts about archives: names are for display only, nothing is written, links and bombs are
refused in clear words.
"""

from __future__ import annotations

import io
import os
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from citewell import Index
from citewell.errors import LimitExceeded
from citewell.loading.formats import Format, detect
from citewell.loading.zipped import load_zip
from citewell.settings import Loading
from citewell.types import FileState

NAMES = (
    "../../etc/x.txt",
    "a/../../b.md",
    "C:\\x.pdf",
    "/etc/cron.d/job.txt",
    "nul",
    "a.txt\0.exe",
    "n" * 4_000,
    "Report.txt",
    "report.txt",
    "caf\u00e9.txt",
    "cafe\u0301.txt",
    "same.txt",
    "same.txt",
)


def archive(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of two equal names, which are meant
        for name, data in members:
            file.writestr(name, data)
    return target.getvalue()


def hostile_names() -> bytes:
    """An archive of `NAMES`. A NUL is put in afterwards: the library would cut the name there."""
    members = (
        (name.replace("\0", "?"), f"The fee of case {place} is {place + 10} EUR.".encode())
        for place, name in enumerate(NAMES)
    )
    return archive(*members).replace(b"a.txt?.exe", b"a.txt\0.exe")


def every_file(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_hostile_names_are_shown_distinct_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    before = every_file(tmp_path)
    data = hostile_names()
    assert detect(data, "upload.zip") is Format.ZIP
    parsed = load_zip(data, "upload.zip", Loading())
    assert every_file(tmp_path) == before
    assert not Path("/etc/cron.d/job.txt").exists()
    assert [inside.data.decode().split()[4] for inside in parsed.inside] == [str(place) for place in range(len(NAMES))]
    shown = [inside.name for inside in parsed.inside]
    assert len(set(shown)) == len(NAMES)
    assert shown[:3] == list(NAMES[:3])
    assert shown[5] == "a.txt\\x00.exe"
    assert shown[6] == NAMES[6]
    lines = parsed.text.split("\n")
    assert len(set(lines)) == len(NAMES)
    assert max(map(len, lines)) < 210
    assert parsed.lost == ()


def test_a_link_to_what_is_outside_is_named_and_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    link = zipfile.ZipInfo("link.txt")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    parsed = load_zip(archive((link, os.fsencode(secret)), ("a.txt", b"a")), "a.zip", Loading())
    assert [inside.name for inside in parsed.inside] == ["a.txt"]
    assert "link.txt is a symbolic link" in parsed.lost[0]
    assert "secret" not in parsed.text


def test_what_unpacks_to_ten_gigabytes_is_refused_at_once() -> None:
    """A member of 10 GB, made of one of 10 MB whose size in the directory is changed."""
    data = bytearray(archive(("zeros.txt", bytes(10_000_000))))
    extra = data.index(b"PK\x01\x02") + 24
    data[extra : extra + 4] = (4_294_000_000).to_bytes(4, "little")
    for content in (bytes(data), archive(("zeros.txt", bytes(10_000_000)))):
        with pytest.raises(LimitExceeded, match="bytes unpacked from"):
            load_zip(content, "bomb.zip", Loading())


def test_a_bomb_inside_archives_is_refused_where_it_opens() -> None:
    bomb = archive(("zeros.txt", bytes(10_000_000)))
    outer = load_zip(archive(("one.zip", bomb), ("two.zip", bomb)), "outer.zip", Loading())
    assert [detect(inside.data, inside.name) for inside in outer.inside] == [Format.ZIP, Format.ZIP]
    with pytest.raises(LimitExceeded):
        load_zip(outer.inside[0].data, outer.inside[0].name, Loading())


def test_an_index_of_such_archives(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "uploads"
    folder.mkdir(parents=True)
    (folder / "bomb.zip").write_bytes(archive(("zeros.txt", bytes(10_000_000))))
    (folder / "names.zip").write_bytes(hostile_names())
    before = every_file(tmp_path)
    with Index.create(tmp_path / "index") as index:
        report = index.add(folder)
        states = {file.source: file.state for file in report.files}
        bomb = (folder / "bomb.zip").as_uri()
        assert [source for source, state in states.items() if state is not FileState.ADDED] == [bomb]
        assert states[bomb] is FileState.FAILED
        # The archive, and each of its files by a source of its own.
        assert len(states) == 1 + 1 + len(NAMES)
        (hit, *_) = index.search("What is the fee of case 4?", k=1)
        assert hit.chunk.text == "The fee of case 4 is 14 EUR."
        assert hit.chunk.title == "nul"
    outside = {path for path in every_file(tmp_path) if not path.is_relative_to(tmp_path / "index")}
    assert outside == before
