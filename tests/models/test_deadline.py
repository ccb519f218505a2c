"""A request that takes longer than it may is cut, whatever it waits for. Heads and bodies that drip: test_web.py."""

from __future__ import annotations

import socket
import threading
import time

import httpx2
import pytest

from citewell.models.deadline import Deadline


@pytest.fixture
def silent() -> socket.socket:
    """It takes connections, and says nothing."""
    return socket.create_server(("127.0.0.1", 0))


def asked(server: socket.socket, deadline: Deadline) -> float:
    """The seconds until it fails."""
    began = time.monotonic()
    with httpx2.Client(timeout=20, trust_env=False) as client, pytest.raises(httpx2.HTTPError):
        client.get(f"http://127.0.0.1:{server.getsockname()[1]}/", extensions=deadline.extensions)
    return time.monotonic() - began


def test_what_waits_is_cut_when_the_time_is_over(silent: socket.socket) -> None:
    with silent, Deadline(0.2) as deadline:
        assert not deadline.is_over
        assert 0.1 < asked(silent, deadline) < 10
        assert deadline.is_over


def test_a_connection_that_is_made_after_that_is_cut_at_once(silent: socket.socket) -> None:
    with silent, Deadline(0.01) as deadline:
        while not deadline.is_over:
            time.sleep(0.01)
        assert asked(silent, deadline) < 10


def test_what_ends_in_time_leaves_nothing_behind(silent: socket.socket) -> None:
    before = threading.active_count()
    with silent, Deadline(60) as deadline:
        pass
    assert not deadline.is_over
    until = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < until
        time.sleep(0.01)
