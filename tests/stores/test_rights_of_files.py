"""Directories that may not be written to or read. Root may do everything, so the tests step down in a child."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from tests.stores.child import child
from tests.stores.corpus import commit, indexed, made_with, zipf_texts

NOBODY = 65_534

STEP_DOWN = f"""
import os, sys
from pathlib import Path
import numpy as np
from citewell.errors import PermissionRefused
from citewell.settings import Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER
import lancedb, pydantic, lancedb.query  # while they may still be read

path = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})

def refusal(act):
    try:
        act()
    except PermissionRefused as refused:
        print(refused.message, flush=True)

store = LanceStore.open(path, Storage())
print(len(store.reader().keyword(["w1"], 99, OWNER)), len(store.reader().documents(OWNER)), flush=True)
refusal(store.writing().__enter__)
refusal(lambda: LanceStore.create(path / "below", store.made_with, Storage()))
refusal(lambda: LanceStore.open(path.with_name("closed"), Storage()))
"""


@pytest.fixture
def path() -> Iterator[Path]:
    """An index that may only be read, and beside it one that may not even be read.

    They are below folders that everyone may enter, which pytest's own are not.
    """
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    index, closed = folder / "index", folder / "closed"
    commit(LanceStore.create(index, made_with(), Storage()), [indexed("d", zipf_texts(20, 1))])
    shutil.copytree(index, closed)
    index.chmod(0o555)
    closed.chmod(0)
    yield index
    index.chmod(0o755)
    closed.chmod(0o755)
    shutil.rmtree(folder)


def test_an_index_that_may_only_be_read_can_be_searched_and_refusals_say_why(path: Path) -> None:
    with child(STEP_DOWN, str(path)) as stepped_down:
        found, read_only, below, closed = stepped_down.output.read().splitlines()
        assert stepped_down.process.wait() == 0
    assert found.endswith(" 1")
    assert int(found.split()[0]) > 0
    assert read_only.endswith("/index cannot be written to: the file system refuses.")
    assert below.endswith("/index/below cannot be written to: the file system refuses.")
    assert closed.endswith("/closed/manifest.json cannot be read: the file system refuses.")
