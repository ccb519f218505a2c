"""Asynchronous work for synchronous callers: its order, its errors, its end."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import closing

import pytest

from citewell.models import own_loop
from citewell.models.own_loop import each


class Counting:
    """Numbers without end, and what became of them."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = threading.Event()

    async def numbers(self) -> AsyncGenerator[int, None]:
        try:
            while True:
                self.made += 1
                yield self.made
                await asyncio.sleep(0)
        finally:
            self.closed.set()


def ours() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "citewell-llm"]


async def three_then_an_error() -> AsyncGenerator[int, None]:
    for number in range(3):
        yield number
    raise LookupError("after three")


def test_results_come_in_order_and_then_the_error() -> None:
    numbers = each(three_then_an_error)
    assert [next(numbers), next(numbers), next(numbers)] == [0, 1, 2]
    with pytest.raises(LookupError, match="after three"):
        next(numbers)
    assert ours() == []


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit, KeyboardInterrupt])
def test_whatever_it_raises_is_handed_on(error: type[BaseException]) -> None:
    async def stops() -> AsyncGenerator[int, None]:
        yield 0
        raise error

    numbers = each(stops)
    assert next(numbers) == 0
    with pytest.raises(error):
        next(numbers)
    assert ours() == []


def test_control_c_at_the_start_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    start, source = threading.Thread.start, Counting()

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "citewell-llm":
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(each(source.numbers))
    assert ours() == []


def test_no_room_for_a_thread_leaves_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.new_event_loop()

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError(f"can't start {thread.name}")

    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
    with pytest.raises(RuntimeError, match="can't start citewell-llm"):
        next(each(Counting().numbers))
    assert loop.is_closed()


def test_nothing_begins_before_it_is_asked_for() -> None:
    source = Counting()
    each(source.numbers).close()
    assert (source.made, ours()) == (0, [])


def test_an_early_end_ends_the_work() -> None:
    source = Counting()
    with closing(each(source.numbers)) as numbers:
        assert [next(numbers), next(numbers)] == [1, 2]
    assert source.closed.is_set()
    assert ours() == []


def test_the_work_waits_for_a_slow_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_loop, "AHEAD", 4)
    source = Counting()
    with closing(each(source.numbers)) as numbers:
        assert [next(numbers) for _ in range(50)] == list(range(1, 51))
        assert source.made <= 50 + 4 + 1


def test_work_that_resists_its_end_keeps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_loop, "CLOSE_S", 0.05)
    release = threading.Event()

    async def stubborn() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.sleep(60)
        finally:
            release.wait(60)

    with closing(each(stubborn)) as numbers:
        assert next(numbers) == 1
    assert ours() == ["citewell-llm"], "still closing, as a daemon"
    release.set()
