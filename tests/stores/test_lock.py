from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from citewell.errors import IndexLocked
from citewell.stores.lock import HOLDER, WriterLock


def test_the_refusal_names_the_holder(tmp_path: Path) -> None:
    with WriterLock(tmp_path), pytest.raises(IndexLocked) as caught, WriterLock(tmp_path):
        pytest.fail("a second lock was given")
    assert f"written to by process {os.getpid()} on {socket.gethostname()}, since 20" in caught.value.message
    with WriterLock(tmp_path) as free:
        assert free.depth == 1


def test_who_holds_it_may_enter_again_from_any_thread(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path)

    def enter() -> None:
        with lock:
            depths.append(lock.depth)

    depths: list[int] = []
    with lock:
        enter()
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        with pytest.raises(IndexLocked), WriterLock(tmp_path):
            pass
    assert depths == [2, 2]
    assert lock.depth == 0


def test_it_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), WriterLock(tmp_path):
        raise ZeroDivisionError
    with WriterLock(tmp_path):
        pass


def test_a_holder_who_left_no_name_is_another_process(tmp_path: Path) -> None:
    with WriterLock(tmp_path):
        (tmp_path / "writer.json").write_text("{")
        with pytest.raises(IndexLocked, match="by another process"), WriterLock(tmp_path):
            pass


def test_who_cannot_name_himself_does_not_keep_the_lock(tmp_path: Path) -> None:
    (tmp_path / HOLDER).mkdir()  # so that writing it fails, as on a full disk
    with pytest.raises(IsADirectoryError), WriterLock(tmp_path):
        pass
    (tmp_path / HOLDER).rmdir()
    with WriterLock(tmp_path) as lock:
        assert lock.depth == 1
