"""What asks nothing of the documents, and that no real question is taken for it."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.queries.small_talk import LONGEST, is_small_talk
from citewell.types import Turn

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("CITEWELL_SHARED", ROOT.parent / "shared")) / "data"
BEFORE = [Turn("What does a card cost?", "40 euros a year. [1]")]


@pytest.mark.parametrize(
    "text",
    [
        "Hello", "hi!", "Hi there, good morning!", "  THANKS a lot.  ", "Hello! How are you?", "Thanks, bye.",
        "Ok, thanks", "Danke!", "¡Hola! ¿What can you do?", "What can you do?", "hello, what can I ask you?",
        "Who are you?", "Can you help me?",
    ],
)  # fmt: skip
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "?", "Hello, what does a card cost?", "Thanks. And R-17?", "Thanks to whom was the bridge built?",
        "What can you do about a lost card?", "What can you do when a card is lost?", "Who are your partners?",
        "hello world", "Good Morning Vietnam", "Thank you letter", "help", "ok", "yes", "Hello Kitty",
        "How do I say hello?", "What is a greeting?", "What can it do?", "Are you open on Sundays?",
        "Can you help me with R-17?",
    ],
)  # fmt: skip
def test_what_may_be_looked_up(text: str) -> None:
    assert not is_small_talk(text)


def test_in_a_conversation_a_question_to_you_may_go_on_with_its_subject() -> None:
    assert not is_small_talk("What can you do?", BEFORE)
    assert is_small_talk("Thank you very much!", BEFORE)


def test_a_long_text_says_something_else() -> None:
    assert is_small_talk("hi. " * (LONGEST // 4))
    assert not is_small_talk("hi. " * LONGEST)


def test_no_real_question_is_turned_away() -> None:
    asked = set(_asked())
    assert len(asked) > 3_000
    assert {text for text in asked if is_small_talk(text)} == set()


def _asked() -> Iterator[str]:
    for line in (ROOT / "examples" / "bank" / "testset.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)["question"]
    if not DATA.exists():
        pytest.skip("the data sets are not here")
    packed = gzip.decompress((DATA / "squad2" / "queries.jsonl.gz").read_bytes()).decode()
    for name in ("scifact", "2wiki-multihop", "contextual-codebase"):
        packed += (DATA / name / "queries.jsonl").read_text("utf-8")
    for line in packed.splitlines():
        yield json.loads(line)["text"]
