"""Keys, and how a round of calls ends."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from citewell.enrichment.asking import Asking, Task, key_of
from citewell.enrichment.refusals import Refusals
from citewell.models.llm import Prompt
from citewell.models.waiting import waiting
from tests.enrichment.conftest import nothing_kept
from tests.enrichment.scripted_writer import ScriptedWriter


def tasks(number: int) -> list[Task]:
    return [
        Task(f"task {n}", Prompt("rules", f"text {n}", 10), lambda reply: () if reply else None) for n in range(number)
    ]


def test_a_key_depends_on_all_that_a_reply_depends_on() -> None:
    asked = [("m", "a", "b"), ("n", "a", "b"), ("m", "ab", ""), ("m", "", "ab"), ("m", "a", 'b", "')]
    keys = {key_of(model, Prompt(system, user, 10)) for model, system, user in asked}
    assert len(keys) == 5
    assert all(len(key) == 64 for key in keys)
    assert key_of("m", Prompt("a", "b", 10)) == key_of("m", Prompt("a", "b", 20))
    assert key_of("m", Prompt("a", "\ud800", 10)) != key_of("m", Prompt("a", "?", 10))


def test_each_reply_is_kept_as_it_comes_and_one_at_a_time() -> None:
    keeping, kept = threading.Lock(), list[Mapping[str, str]]()

    def keep(replies: Mapping[str, str]) -> None:
        assert keeping.acquire(blocking=False)
        kept.append(replies)
        keeping.release()

    writer = ScriptedWriter(lambda prompt, _: prompt.user)
    written = Asking(writer, "m", 8, Refusals()).all(tasks(40), {}, keep)
    assert [each.reply for each in written] == [f"text {n}" for n in range(40)]
    assert len(kept) == 40
    assert {key: reply for each in kept for key, reply in each.items()} == {each.key: each.reply for each in written}


def test_both_replies_are_kept_and_the_second_stands() -> None:
    kept = list[Mapping[str, str]]()
    (written,) = Asking(ScriptedWriter(lambda _, tries: "good" if tries else ""), "m", 1, Refusals()).all(
        tasks(1), {}, kept.append
    )
    assert [list(each.values()) for each in kept] == [[""], ["good"]]
    assert (written.reply, written.entries) == ("good", ())


def test_the_run_that_waits_can_be_stopped() -> None:
    """As by Ctrl-C: the calls under way are kept, and no others are begun."""
    kept = list[Mapping[str, str]]()
    released = threading.Event()

    def slow(prompt: Prompt, _: int) -> str:
        released.wait(5)
        return prompt.user

    def interrupt() -> None:
        released.set()
        raise KeyboardInterrupt

    writer = ScriptedWriter(slow)
    with waiting(interrupt), pytest.raises(KeyboardInterrupt):
        Asking(writer, "m", 2, Refusals()).all(tasks(50), {}, kept.append)
    assert 2 <= len(writer.prompts) == len(kept) < 50


def test_the_first_failure_is_what_is_told() -> None:
    def fails(prompt: Prompt, _: int) -> str:
        if prompt.user == "text 3":
            raise ConnectionError("the third")
        return prompt.user

    writer = ScriptedWriter(fails)
    with pytest.raises(ConnectionError, match="the third"):
        Asking(writer, "m", 1, Refusals()).all(tasks(10), {}, nothing_kept)
    assert len(writer.prompts) == 4
