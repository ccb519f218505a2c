"""The small files of an index: what is replaced is whole, and every refusal of the file system is said in our words."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import pytest

from citewell.errors import DiskFull, IndexNotFound, PathError, PermissionRefused
from citewell.stores import files
from tests.stores.child import child

ROOM_FOR_10_BYTES = """
import resource, sys
from pathlib import Path
from citewell.errors import DiskFull
from citewell.stores import files

path = Path(sys.argv[1])
files.replace(path, b"as it was")
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
try:
    files.replace(path, b"too long for the room that there is")
except DiskFull as error:
    print(error.message, flush=True)
print(path.read_bytes().decode(), flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
files.replace(path, b"with room again it goes through")
print(path.read_bytes().decode(), [each.name for each in path.parent.iterdir()], flush=True)
"""


def test_a_file_is_replaced_whole_and_its_signature_changes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(path, b"one")
    before = files.signature(path)
    assert files.signature(path) == before
    with path.open("rb") as held:
        files.replace(path, b"two")
        assert held.read() == b"one"  # who has it open goes on with what it was
    assert files.read(path) == b"two"
    assert files.signature(path) != before
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_replacement_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "file.new").write_bytes(b"half of a")
    files.replace(tmp_path / "file", b"whole")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("file", b"whole")]


def test_with_no_room_left_the_old_file_stays(tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    with child(ROOM_FOR_10_BYTES, str(tmp_path / "file")) as writer:
        said, then, later = writer.output.read().splitlines()
        assert writer.process.wait() == 0
    assert said == f"There is no room left to write in {tmp_path}; what was committed before is kept."
    assert then == "as it was"
    assert later == "with room again it goes through ['file']"


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, DiskFull),
        (errno.EDQUOT, DiskFull),
        (errno.EFBIG, DiskFull),
        (errno.EACCES, PermissionRefused),
        (errno.EPERM, PermissionRefused),
        (errno.EROFS, PermissionRefused),
    ],
)
def test_what_a_failure_to_write_means(tmp_path: Path, number: int, kind: type[Exception]) -> None:
    assert isinstance(files.meaning(OSError(number, "said by the system"), tmp_path), kind)


def test_a_failure_that_means_nothing_to_us_is_passed_on(tmp_path: Path) -> None:
    strange = OSError(errno.EIO, "said by the system")
    assert files.meaning(strange, tmp_path) is strange


def test_what_is_not_there_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    for path in (tmp_path / "none", tmp_path / "a file" / "none"):
        with pytest.raises(IndexNotFound, match="There is no index in"):
            files.read(path)
        with pytest.raises(IndexNotFound):
            files.signature(path)


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    files.make_folder(tmp_path / "a" / "b")
    files.make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(PathError, match="is not a directory"):
            files.make_folder(path)


def test_a_size_is_in_bytes_and_nothing_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert files.size(tmp_path / "file") == 5
    assert files.size(tmp_path / "none") == 0
    assert files.size(tmp_path / "link") == len(str(tmp_path / "gone"))
