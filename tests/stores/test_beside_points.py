"""What is said of a point in tags says the same as the store: for any values, conditions and days."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.filters import And, Contains, Equal, Filter, In, Not, Or, Range, matches
from citewell.stores.beside.points import CURRENT, built_in, digest, to_allowed, to_points
from citewell.stores.beside.tag_lists import TagLists
from citewell.stores.beside.vector_index import Condition, Either, Every, Tagged, Without
from citewell.stores.store import Scope, Standing
from citewell.types import FieldValue
from tests.stores.corpus import indexed

texts = st.sampled_from(["", "a", "b'", "a\nb", "ü", "1", "2026-01-01"])
numbers = st.sampled_from([0.0, -0.0, 1, 1.0, -2.5, 1e300])
dates = st.dates(date(2026, 1, 1), date(2026, 1, 3))
fields: st.SearchStrategy[dict[str, FieldValue]] = st.fixed_dictionaries(
    {}, optional={"kind": texts, "amount": numbers, "signed": dates, "tags": st.lists(texts, max_size=2).map(tuple)}
)
equals = st.one_of(
    st.builds(Equal, st.sampled_from(["kind", "tags", "version", "missing"]), texts),
    st.builds(Equal, st.just("amount"), numbers),
    st.builds(Equal, st.just("signed"), dates),
    st.builds(In, st.sampled_from(["kind", "tags"]), st.lists(texts, min_size=1, max_size=3).map(tuple)),
    st.builds(In, st.just("amount"), st.lists(numbers, min_size=1, max_size=3).map(tuple)),
)
conditions: st.SearchStrategy[Filter] = st.recursive(
    equals,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


def meets(condition: Condition | None, tags: set[str]) -> bool:
    match condition:
        case None:
            return True
        case Tagged(wanted):
            return bool(tags & set(wanted))
        case Every(parts):
            return all(meets(part, tags) for part in parts)
        case Either(parts):
            return any(meets(part, tags) for part in parts)
        case Without(part):
            return not meets(part, tags)


@settings(deadline=None)
@given(fields, conditions)
def test_tags_meet_what_the_values_match(values: dict[str, FieldValue], where: Filter) -> None:
    document = indexed("d", ["w"], fields=values)
    (point,) = to_points([document], ("kind", "amount", "signed", "tags"), 32).points
    allowed = to_allowed(Scope(None, None, where))
    assert allowed is not None
    expected = matches(where, {**values, **built_in(document.document)})
    assert meets(allowed.condition, set(point.tags)) == expected


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), max_size=8),
    st.lists(st.lists(st.sampled_from("cdefgh"), max_size=4), max_size=8),
    st.randoms(use_true_random=False),
)
def test_lists_of_tags_joined_are_those_of_the_rows_kept(
    first: list[list[str]], second: list[list[str]], random: np.random.Generator
) -> None:
    kept = [np.array([random.random() < 0.6 for _ in rows], dtype=np.bool_) for rows in (first, second)]
    joined = TagLists.joined((TagLists.of(rows), mask) for rows, mask in zip((first, second), kept, strict=True))
    rows = [
        tags
        for part, mask in zip((first, second), kept, strict=True)
        for tags, keep in zip(part, mask, strict=True)
        if keep
    ]
    for condition in (
        Tagged(("a",)),
        Tagged(("c", "h", "none")),
        Without(Tagged(("d",))),
        Every((Tagged(("c",)), Either((Tagged(("d",)), Without(Tagged(("e", "f"))))))),
    ):
        assert joined.meeting(condition, len(rows)).tolist() == [meets(condition, set(tags)) for tags in rows]


def test_lists_of_tags_come_back_from_their_files(tmp_path: Path) -> None:
    lists = TagLists.of([["b", "a"], [], ["b"]])
    lists.save(tmp_path / "x")
    again = TagLists.load(tmp_path / "x")
    assert again.meeting(Tagged(("b",)), 3).tolist() == [True, False, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.names.npy", "x.rows.npy", "x.starts.npy"]


def test_what_has_an_order_or_parts_is_not_a_matter_of_tags() -> None:
    for where in (
        Range("amount", 1.0),
        Contains("kind", "a"),
        Not(Contains("kind", "a")),
        And((Equal("kind", "a"), Range("amount", 1.0))),
        Or((Range("amount", 1.0), Equal("kind", "a"))),
        And(()),
    ):
        assert to_allowed(Scope(None, None, where)) is None


def test_no_value_of_one_field_is_that_of_another() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", ""), digest("", "abc")}) == 5
    values: dict[str, FieldValue] = {"one": "1", "two": 1.0, "three": ("1",)}
    (point,) = to_points([indexed("d", ["w"], fields=values)], values, 32).points
    (bare,) = to_points([indexed("d", ["w"])], values, 32).points
    assert len(set(point.tags) - set(bare.tags)) == 3


def test_a_point_says_when_it_is_in_force_and_whether_its_version_is_the_current_one() -> None:
    past = Standing(current=False, in_force_from=date(2026, 1, 2), in_force_to=date(2026, 1, 3))
    (point,) = to_points([indexed("d", ["w"], standing=past)], (), 32).points
    assert (date.fromordinal(point.first), date.fromordinal(point.last)) == (date(2026, 1, 2), date(2026, 1, 3))
    assert CURRENT not in point.tags
    (open_ended,) = to_points([indexed("d", ["w"])], (), 32).points
    assert (open_ended.first, open_ended.last) == (date.min.toordinal(), date.max.toordinal())
    assert CURRENT in open_ended.tags
    assert to_points([indexed("d", ["w"], standing=Standing(current=False, searchable=False))], (), 32).points == ()
