from __future__ import annotations

from datetime import date

import pytest

from citewell.errors import DamagedFile
from citewell.loading.markdown.document import load_markdown
from citewell.loading.markdown.front_matter import read_front_matter
from citewell.settings import Loading
from citewell.types import NOTHING, Attributes, Trust

YAML = """---
# who may read
groups: [hr, 'works council']
title: "Fees: all of them"
version: 1.10
valid_from: 2026-01-01
valid-to: '2026-12-31'
trust: Untrusted
lang: en-GB
tags:
  - a
  - b: {c: d}
author: [Ann, Bob]
date: 2025-03-04T10:00:00Z
lastmod: 2025-04-05
---
"""
TOML = """+++
groups = ["hr", "works council"]
title = "Fees: all of them"
version = "1.10"
valid_from = 2026-01-01
valid_to = "2026-12-31"
trust = "untrusted"
language = "en-GB"
authors = ["Ann", "Bob"]
date = 2025-03-04T10:00:00Z
lastmod = 2025-04-05
[params]
groups = 1
+++
"""


@pytest.mark.parametrize("text", [YAML, TOML])
def test_a_file_declares_what_it_asks_for(text: str) -> None:
    front = read_front_matter(text + "# Heading")
    assert front.declared == Attributes(
        groups=frozenset({"hr", "works council"}),
        title="Fees: all of them",
        version="1.10",
        valid_from=date(2026, 1, 1),
        valid_to=date(2026, 12, 31),
        trust=Trust.UNTRUSTED,
        language="en-GB",
        author="Ann, Bob",
    )
    assert front.metadata == {"author": "Ann, Bob", "created": "2025-03-04", "modified": "2025-04-05"}
    assert front.end == len(text)


@pytest.mark.parametrize(
    ("front", "groups"),
    [
        ("---\ngroups: hr, staff\n---\n", {"hr", "staff"}),
        ("---\ngroups:\n- hr\n- '2024'\n---\n", {"hr", "2024"}),
        ("---\nGroups: everyone\n...\n", {"everyone"}),
        ("---\n{groups: [hr]}\n---\n", {"hr"}),
        ("\n\n---\ngroups: [hr]\n---\n", {"hr"}),
        ("---\ntitle: x\ngroups: []\n---", set()),
        ("+++\ngroups = 'hr, staff'\n+++\n", {"hr", "staff"}),
    ],
)
def test_groups_are_a_list_or_words_with_commas(front: str, groups: set[str]) -> None:
    assert read_front_matter(front).declared.groups == frozenset(groups)


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("---\ntitle: x\ngroups: 5\n---\n", "line 3: groups holds what is no name"),
        ("---\ngroups:\n---\n", "line 2: groups"),
        ("---\ngroups: [hr, null]\n---\n", "line 2: groups holds what is no name"),
        ("---\ngroups: [hr, [staff]]\n---\n", "line 2: groups"),
        ("---\ngroups: {hr: yes}\n---\n", "line 2: groups"),
        ("---\ngroups: !!python/name:os.system\n---\n", "line 2: groups"),
        ("---\ngroups: [hr]\nGROUPS: [everyone]\n---\n", "line 3: groups is given twice"),
        ("---\ngroups: [hr\n---\n", "line 3: expected"),
        ("---\ngroups: &a [hr]\nb: *a\n---\n", "line 2: anchors"),
        ("---\n? [a]\n: groups\ngroups: [hr]\n---\n", "line 2: a key must be a word"),
        ("---\n'': groups\ngroups: 5\n---\n", "line 3: groups holds what is no name"),
        ("---\nvalid_from: soon\n---\n", "line 2: valid_from is no date"),
        ("---\nvalid_to: 2026-01-01T00:00:00\n---\n", "line 2: valid_to is no date"),
        ("---\nvalid_from: 2026-02-01\nvalid_to: 2026-01-01\n---\n", "line 3: valid_to is before"),
        ("---\ntrust: high\n---\n", "line 2: trust must be one of approved, unreviewed, untrusted"),
        ("---\ngroups: [hr]\n\n# Never closed", "line 1: it does not end"),
        ("---\ngroups: [hr]\n" + "#\n" * 40_000 + "---\n", "line 1: it does not end"),
        ("---\ngroups: x\nk: " + "[" * 60_000 + "\n---\n", "line 3: it is nested"),
        ("+++\ngroups = 5\n+++\n", "line 2: groups holds what is no name"),
        ("+++\na = 1\ngroups =\n+++\n", "line 3: it is not TOML: Invalid value"),
        ("+++\ngroups = " + "[" * 60_000 + "\n+++\n", "line 2: it is not TOML"),
    ],
)
def test_rights_that_are_not_understood_are_no_wider_rights(front: str, reason: str) -> None:
    with pytest.raises(DamagedFile) as caught:
        read_front_matter(front)
    assert reason in caught.value.message
    assert "wrong rights" in caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nkept\n\n---\n\nmore",
        "---\n- a: b\n---\n",
        "---\nword",
        "---\nNote: a b\n\nSome text: it stays\n\nand this\n---\n",
        "text",
        "",
        "+++\n",
    ],
)
def test_a_rule_at_the_top_is_no_front_matter(text: str) -> None:
    front = read_front_matter(text)
    assert (front.declared, front.metadata, front.end) == (NOTHING, {}, 0)


def test_other_values_that_make_no_sense_are_passed_over() -> None:
    text = "---\nlanguage: [none, at all]\ndate: some day\nauthor: {name: Ann}\ntitle: [A, B]\n---\n"
    front = read_front_matter(text)
    assert (front.declared, front.metadata) == (Attributes(title="A, B"), {})


def test_a_slip_far_from_rights_costs_only_what_it_spoils() -> None:
    text = "---\ntitle: Fees: all\nlayout: x\n---\n"
    front = read_front_matter(text)
    assert (front.declared, front.end) == (Attributes(title="Fees: all"), len(text))


def test_aliases_do_not_expand() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    front = read_front_matter("---\n" + "\n".join(lines) + "\n---\n")
    assert front.declared == NOTHING


def test_a_markdown_file_carries_what_it_declares() -> None:
    parsed = load_markdown((YAML + "# Heading\n\ntext").encode(), "a.md", Loading())
    assert parsed.text == "Heading\n\ntext"
    assert parsed.title == "Fees: all of them"
    assert parsed.declared.groups == frozenset({"hr", "works council"})
    assert parsed.metadata["created"] == "2025-03-04"


def test_half_a_sign_is_no_part_of_a_name() -> None:
    """YAML can write half of a surrogate pair, which no store and no message between processes takes."""
    assert read_front_matter('---\ntitle: "a\\ud800b"\n---\n').declared.title == "a?b"
    with pytest.raises(DamagedFile, match="groups"):
        read_front_matter('---\ngroups: ["hr\\ud800"]\n---\n')


@pytest.mark.parametrize(
    "head",
    [
        "--- # a comment\ngroups: [hr]\n---\n",
        "---\n{title: x, groups: [hr]}\n---\n",
        "---\n? groups\n: [hr]\n---\n",
        '---\n"gro\\u0075ps": [hr]\n---\n',
        "---\n!!str groups: [hr]\n---\n",
        "\u200b---\ngroups: [hr]\n---\n",
    ],
)
def test_rights_count_in_every_way_that_yaml_may_say_them(head: str) -> None:
    assert read_front_matter(head + "Text.").declared.groups == frozenset({"hr"})


def test_merged_keys_are_refused() -> None:
    with pytest.raises(DamagedFile, match="a key must be a word"):
        read_front_matter("---\n<<: {groups: [hr]}\n---\nText.")
