"""Lists and passages as language models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.models.reply import MAX_REPLY_CHARS, MAX_TEXT_CHARS, Listed, declines, listed, prose, unlabelled


@pytest.mark.parametrize(
    "reply",
    [
        '["a b?", "c?"]',
        'Sure! Here it is:\n```json\n["a b?", "c?"]\n```\nHope it helps.',
        '[{"question": "a b?"}, {"question": "c?"}]',
        '["a\\nb?", "", "c?", 7, null]',
        '["a b?", "c?", "and this is cut o',
        "1. a b?\n2) c?",
        "- a b?\n* **c?**",
        'Q1: "a b?"\nQ2: c?',
    ],
)
def test_a_list_in_any_form(reply: str) -> None:
    assert [item.text for item in listed(reply) or ()] == ["a b?", "c?"]


def test_an_entry_keeps_what_else_it_says() -> None:
    assert listed('[{"question": "a?", "as_of": "2025-12-31", "n": 1}]') == (Listed("a?", {"as_of": "2025-12-31"}),)


@pytest.mark.parametrize(("reply", "expected"), [("[]", ()), ("Reply: [ ]", ()), ("I do not know", None), ("", None)])
def test_an_empty_list_is_a_list_and_a_sentence_is_none(reply: str, expected: tuple[Listed, ...] | None) -> None:
    assert listed(reply) == expected


def test_too_long_a_text_and_too_deep_a_list_are_no_queries() -> None:
    assert listed(f'["{"x" * (MAX_TEXT_CHARS + 1)}", "a?"]') == (Listed("a?"),)
    assert listed("[" * MAX_REPLY_CHARS) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A card is blocked.", "A card is blocked."),
        ("```\nA card\nis blocked.\n```", "A card is blocked."),
        ('**Passage:** "A card is blocked."', "A card is blocked."),
        ("Here is a passage: A card is blocked.", "A card is blocked."),
        ("Broader: When?", "When?"),
        ("- **The rewritten question**: \u00abWhen?\u00bb", "When?"),
        ("Surely it is blocked.", "Surely it is blocked."),
        ("I'm sorry, I can't help.", ""),
        ("Answer: Unfortunately I do not know.", ""),
        ('"I don\u2019t know."', ""),
        ("As an AI I have no access.", ""),
        ("", ""),
    ],
)
def test_prose(reply: str, expected: str) -> None:
    assert prose(reply) == expected


@given(st.text() | st.text(alphabet='[]{}",:\\ \n-1a'))
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    assert all(item.text.strip() and "\n" not in item.text for item in listed(reply) or ())
    assert "\n" not in prose(reply)
    assert not declines(prose(reply))


@given(st.text(alphabet="-*># \n:aquestion") | st.text())
def test_a_label_is_all_that_is_taken_off(reply: str) -> None:
    assert " ".join(reply.split()).strip("\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb`* ").endswith(unlabelled(reply))
