"""What becomes of the versions of a document: planned by `History`, put into a real store, and read back from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from citewell.chunking import chunk
from citewell.history import Changes, History, tokens_of
from citewell.loading import document_id
from citewell.loading.given import from_text
from citewell.settings import Chunking, Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import OWNER, IndexedDocument, IndexedEntry, Scope, Standing, VersionKey
from citewell.types import Document, Ending, Rights, Version
from tests.scripted_embedder import ScriptedEmbedder
from tests.stores.corpus import DIMENSIONS, made_with

JAN, FEB, MAR, APR = (datetime(2026, month, 1, 9, tzinfo=UTC) for month in (1, 2, 3, 4))
DAY = timedelta(days=1)
ALL_DAYS = [datetime(2025, 12, 31, 9, tzinfo=UTC), JAN, FEB - DAY, FEB, MAR, APR]
EMBEDDER = ScriptedEmbedder("scripted", DIMENSIONS)
KEPT = Storage()
CUT = Chunking(size=40, overlap=0, summaries=True, parents=200)


@dataclass(frozen=True, slots=True)
class Past:
    """A store, and what its history does to it on some day."""

    store: LanceStore
    storage: Storage = KEPT

    def at(self, now: datetime) -> History:
        return History(self.store, self.storage, now)

    def does(self, changes: Changes) -> None:
        self.store.commit(changes.put, changes.drop)

    def enter(self, now: datetime, *new: IndexedDocument, renamed: dict[str, str] | None = None) -> None:
        came = [replace(one, document=replace(one.document, indexed_at=now)) for one in new]
        self.does(self.at(now).entered(came, renamed))

    def delete(self, now: datetime, name: str, ending: Ending = Ending.DELETED) -> None:
        self.does(self.at(now).removed([document_id(name)], ending))

    def restore(self, now: datetime, name: str, number: int, set_aside: str = "") -> None:
        wanted = next(one for one in self.versions(name) if one.number == number)
        self.does(self.at(now).restored(wanted, set_aside))

    def tidy(self, now: datetime) -> None:
        self.does(self.at(now).overdue())

    def versions(self, name: str) -> list[Version]:
        return self.store.versions([document_id(name)])

    def numbers(self, name: str) -> list[int]:
        return [one.number for one in self.versions(name)]

    def fetched(self, name: str, number: int) -> IndexedDocument:
        (one,) = self.store.fetch([VersionKey(document_id(name), number)])
        return one

    def text_on(self, day: datetime, name: str, groups: Iterable[str] | None = None) -> str | None:
        """What a reader finds of it on a day; by each leg the same, or this fails."""
        scope = Scope(None if groups is None else frozenset(groups), day.date())
        reader = self.store.reader()
        document = reader.document(document_id(name), scope)
        chunks = reader.document_chunks(document_id(name), scope)
        near = reader.dense(EMBEDDER.embed_queries(["any"])[0], 99, scope)
        assert {match.chunk_id for match in near} == {made.id for made in chunks if "#p" not in made.id}
        assert {made.text in document.text if document else None for made in chunks} <= {True}
        assert reader.counts(scope).documents == (document is not None)
        return document.text if document else None

    def texts(self, name: str) -> list[str | None]:
        return [self.text_on(day, name) for day in ALL_DAYS]


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    store = LanceStore.create(tmp_path / "store", made_with(), Storage())
    with store.writing():
        yield Past(store)
    store.close()


def keeping(past: Past, **kept: int) -> Past:
    return Past(past.store, Storage(**kept))


def document(
    name: str, text: str, number: int = 1, *, groups: Iterable[str] = ("everyone",), expires: date | None = None
) -> Document:
    return replace(from_text(text, source=name, title="", groups=groups), number=number, expires=expires)


def made(given: Document) -> IndexedDocument:
    cut = chunk(given, CUT, EMBEDDER)
    entries = tuple(IndexedEntry(one, tokens_of(one.text, given), "0" * 64) for one in cut.entries)
    return IndexedDocument(
        given, "recipe", cut.chunks, entries, EMBEDDER.embed_passages([one.text for one in cut.entries])
    )


def version(name: str, text: str, number: int = 1, *, groups: Iterable[str] = ("everyone",)) -> IndexedDocument:
    return made(document(name, text, number, groups=groups))


def dated(name: str, text: str, number: int, first: date | None, last: date | None) -> IndexedDocument:
    return made(replace(document(name, text, number), valid_from=first, valid_to=last))


def groups_of(one: IndexedDocument) -> set[frozenset[str]]:
    """The rights of the document, and of all its parts."""
    parts = [*(part.rights for part in one.chunks), *(item.entry.rights for item in one.entries)]
    return {rights.groups for rights in [one.document.rights, *parts]}


def test_versions_follow_each_other_day_by_day(past: Past) -> None:
    past.enter(JAN, version("policy", "one"))
    past.enter(FEB, version("policy", "two", 2))
    past.enter(MAR, version("policy", "three", 3))
    assert past.texts("policy") == ["one", "one", "one", "two", "three", "three"]
    first, second, third = past.versions("policy")
    assert [one.current for one in (first, second, third)] == [False, False, True]
    assert (first.in_force_from, first.in_force_to) == (None, (FEB - DAY).date())
    assert (second.in_force_from, second.in_force_to) == (FEB.date(), (MAR - DAY).date())
    assert (third.in_force_from, third.in_force_to, third.ending) == (MAR.date(), None, None)
    assert (first.ended_at, second.ended_at) == (FEB, MAR)
    assert past.store.reader().document(document_id("policy"), OWNER) == third_document(past)
    assert set(past.store.ledger()) == {document_id("policy")}


def third_document(past: Past) -> Document:
    return past.fetched("policy", 3).document


def test_the_same_number_takes_the_place_of_the_current_and_keeps_the_day_it_came(past: Past) -> None:
    past.enter(JAN, version("policy", "one"))
    past.enter(FEB, version("policy", "two", 2))
    past.enter(MAR, version("policy", "two", 2, groups=["a"]))
    assert past.numbers("policy") == [1, 2]
    assert past.versions("policy")[1].indexed_at == FEB
    assert past.texts("policy") == ["one", "one", "one", "two", "two", "two"]


def test_nothing_is_written_for_versions_for_which_nothing_changes(past: Past) -> None:
    past.enter(JAN, version("policy", "one"))
    past.enter(FEB, version("policy", "two", 2))
    changes = past.at(MAR).entered([version("policy", "two", 2)])
    assert [one.key.number for one in changes.put] == [2]
    assert changes.drop == ()


def test_rights_only_narrow_and_in_every_part(past: Past) -> None:
    past.enter(JAN, version("policy", "one. " * 30, groups=["a", "b"]))
    past.enter(FEB, version("policy", "two", 2, groups=["b", "c"]))
    assert groups_of(past.fetched("policy", 1)) == {frozenset("b")}
    past.enter(MAR, version("policy", "two", 2, groups=["c"]))
    assert groups_of(past.fetched("policy", 1)) == {frozenset()}
    assert past.text_on(JAN, "policy", ["a", "b", "c", "everyone"]) is None
    past.enter(APR, version("policy", "two", 2, groups=["everyone"]))
    assert groups_of(past.fetched("policy", 1)) == {frozenset()}, "what was taken from it once does not come back"
    assert past.text_on(APR, "policy", []) is None
    assert past.text_on(APR, "policy", ["everyone"]) == "two"


def test_everyone_restricts_nothing(past: Past) -> None:
    past.enter(JAN, version("open", "one"), version("shut", "one", groups=["a"]))
    past.enter(FEB, version("open", "two", 2, groups=["a"]), version("shut", "two", 2))
    assert groups_of(past.fetched("open", 1)) == groups_of(past.fetched("shut", 1)) == {frozenset("a")}


def test_narrowing_reaches_what_is_only_kept(past: Past) -> None:
    past.enter(JAN, version("policy", "one"))
    past.enter(JAN, version("policy", "two", 2))
    assert [one.searchable for one in past.versions("policy")] == [False, True]
    past.enter(FEB, version("policy", "two", 2, groups=["a"]))
    assert groups_of(past.fetched("policy", 1)) == {frozenset("a")}


def test_a_correction_on_the_same_day_is_kept_and_not_found(past: Past) -> None:
    past.enter(JAN, version("policy", "wrong"))
    past.enter(JAN + timedelta(hours=1), version("policy", "right", 2))
    assert past.texts("policy") == ["right"] * 6
    wrong, _ = past.versions("policy")
    assert (wrong.searchable, wrong.ending, wrong.ended_at) == (False, Ending.REPLACED, JAN + timedelta(hours=1))
    assert past.fetched("policy", 1).document.text == "wrong"


def test_a_rename_takes_the_earlier_versions_along(past: Past) -> None:
    first = version("old name", "one. " * 30, groups=["a", "b"])
    past.enter(JAN, first)
    past.enter(FEB, version("old name", "two", 2, groups=["a", "b"]))
    past.enter(MAR, version("new name", "two", 2, groups=["b"]), renamed=new_to_old("new name", "old name"))
    assert past.versions("old name") == []
    assert set(past.store.ledger()) == {document_id("new name")}
    assert past.numbers("new name") == [1, 2]
    assert past.texts("new name") == ["one. " * 29 + "one."] * 3 + ["two"] * 3
    moved = past.fetched("new name", 1)
    beginning = f"{document_id('new name')}@1#"
    assert len(moved.chunks) == len(first.chunks) > 2
    assert {len(first.entries), len(moved.entries)} == {len(moved.vectors)}
    ids = [one.id for one in moved.chunks] + [item.entry.id for item in moved.entries]
    ids += [item.entry.chunk_id for item in moved.entries] + [one.parent_id for one in moved.chunks if one.parent_id]
    ids += [source for item in moved.entries for source in item.entry.derived_from]
    assert all(part.startswith(beginning) for part in ids)
    assert {one.source for one in moved.chunks} == {"new name"}
    assert groups_of(moved) == {frozenset("b")}


def new_to_old(new: str, old: str) -> dict[str, str]:
    return {document_id(new): document_id(old)}


def test_two_files_may_exchange_a_name_through_a_third(past: Past) -> None:
    past.enter(JAN, version("a", "first"), version("b", "second"))
    past.enter(FEB, version("c", "first"), renamed=new_to_old("c", "a"))
    past.enter(FEB, version("a", "second"), renamed=new_to_old("a", "b"))
    past.enter(FEB, version("b", "first"), renamed=new_to_old("b", "c"))
    assert [past.fetched(name, 1).document.text for name in "ab"] == ["second", "first"]
    assert sorted(past.store.ledger()) == sorted(map(document_id, "ab"))


@pytest.mark.parametrize("before", [1, 3])
def test_a_rename_to_where_another_was_deleted_keeps_the_versions_of_both(past: Past, before: int) -> None:
    """`before` is how many versions the deleted one had: its numbers and those of what came must not be mixed up."""
    for number in range(1, before + 1):
        past.enter(JAN, version("place", f"other {number}", number, groups=["o"]))
    past.delete(JAN, "place")
    past.enter(JAN, version("policy", "one"))
    past.enter(FEB, version("policy", "two", 2))
    past.enter(MAR, version("place", "two", 2), renamed=new_to_old("place", "policy"))
    assert past.texts("place") == ["one", "one", "one", "two", "two", "two"]
    assert [one.searchable for one in past.versions("place")].count(True) == 2
    assert past.versions("policy") == []
    current = past.versions("place")[-1]
    assert (current.current, current.indexed_at) == (True, FEB)


def test_what_was_deleted_is_in_no_leg_on_any_day(past: Past) -> None:
    past.enter(JAN, version("policy", "one"))
    past.enter(FEB, version("policy", "two", 2))
    past.delete(MAR, "policy")
    assert past.texts("policy") == [None] * 6
    assert past.store.ledger() == {}
    assert [(one.searchable, one.ending, one.ended_at) for one in past.versions("policy")] == [
        (False, Ending.DELETED, MAR)
    ] * 2
    assert past.fetched("policy", 1).document.text == "one"
    assert past.at(APR).removed([document_id("policy")], Ending.DELETED) == Changes(), "there is nothing more to delete"


def test_what_comes_again_after_a_deletion_is_the_next_version_and_its_past_stays_deleted(past: Past) -> None:
    past.enter(JAN, version("policy", "one", groups=["a", "b"]))
    past.enter(FEB, version("policy", "two", 2, groups=["a", "b"]))
    past.delete(FEB, "policy")
    past.enter(MAR, version("policy", "three", groups=["b"]))
    assert past.numbers("policy") == [1, 2, 3]
    assert past.texts("policy") == ["three"] * 6
    third = past.fetched("policy", 3)
    assert all(part.id.startswith(f"{document_id('policy')}@3#") for part in third.chunks)
    assert [groups_of(past.fetched("policy", number)) for number in (1, 2)] == [{frozenset("b")}] * 2


def test_a_deletion_is_of_what_was_corrected_before_too(past: Past) -> None:
    """The correction's day is free again when it is deleted: the error must not come back to it."""
    past.enter(JAN, version("policy", "wrong"))
    past.enter(JAN, version("policy", "right", 2))
    past.delete(FEB, "policy")
    past.enter(MAR, version("policy", "new"))
    assert "wrong" not in past.texts("policy")
    assert past.texts("policy") == ["new"] * 6


def test_a_deletion_is_of_the_versions_that_were_too_many_too(past: Past) -> None:
    few = keeping(past, keep_versions=1)
    for number, now in enumerate((JAN, FEB, MAR), start=1):
        few.enter(now, version("policy", str(number), number))
    assert [one.searchable for one in few.versions("policy")] == [False, True, True]
    few.delete(MAR + DAY, "policy")
    few.enter(APR, version("policy", "new"))
    assert few.texts("policy") == ["new"] * 6


@pytest.mark.parametrize("days", [0, 5])
def test_a_deletion_forgets_at_once_where_nothing_is_kept(past: Past, days: int) -> None:
    kept = keeping(past, keep_deleted_days=days)
    kept.enter(JAN, version("policy", "one"), version("other", "stays"))
    kept.enter(FEB, version("policy", "two", 2))
    kept.delete(MAR, "policy")
    assert kept.numbers("policy") == ([1, 2] if days else [])
    assert kept.numbers("other") == [1]


def test_only_the_newest_past_versions_are_found(past: Past) -> None:
    few = keeping(past, keep_versions=1)
    few.enter(JAN, version("policy", "one"))
    few.enter(FEB, version("policy", "two", 2))
    few.enter(MAR, version("policy", "three", 3))
    assert few.texts("policy") == [None, None, None, "two", "three", "three"]
    assert [one.searchable for one in few.versions("policy")] == [False, True, True]
    none = keeping(past, keep_versions=0)
    none.enter(APR, version("policy", "four", 4))
    assert none.texts("policy") == [None] * 5 + ["four"]


def test_a_version_without_a_day_takes_no_place_among_those_that_are_found(past: Past) -> None:
    few = keeping(past, keep_versions=1)
    few.enter(JAN, version("policy", "one"))
    few.enter(FEB, version("policy", "wrong", 2))
    few.enter(FEB, version("policy", "right", 3))
    assert few.texts("policy") == ["one", "one", "one", "right", "right", "right"]


def test_said_days_are_those_of_each_version(past: Past) -> None:
    past.enter(JAN, dated("policy", "one", 1, JAN.date(), None))
    past.enter(FEB, dated("policy", "two", 2, MAR.date(), APR.date() - DAY))
    assert past.texts("policy") == [None, "one", "one", "one", "two", None]


def test_what_expires_is_found_until_the_day_before(past: Past) -> None:
    past.enter(JAN, made(document("policy", "one", expires=MAR.date())))
    assert past.texts("policy") == ["one", "one", "one", "one", None, None]
    assert set(past.store.expired(MAR.date())) == {document_id("policy")}
    assert past.store.expired((MAR - DAY).date()) == {}
    past.delete(MAR, "policy", Ending.EXPIRED)
    assert [one.ending for one in past.versions("policy")] == [Ending.EXPIRED]
    past.enter(APR, version("policy", "new"))
    assert past.texts("policy") == ["new"] * 6, "what expired does not come back to its days"


def test_the_end_is_the_earlier_of_the_last_day_and_the_one_before_it_expires(past: Past) -> None:
    both = replace(document("policy", "one", expires=APR.date()), valid_to=FEB.date())
    past.enter(JAN, made(both))
    assert past.versions("policy")[0].in_force_to == FEB.date()
    assert past.versions("policy")[0].valid_to == FEB.date()


def test_a_version_is_restored_as_the_newest_with_the_rights_that_hold(past: Past) -> None:
    past.enter(JAN, version("policy", "one. " * 30, groups=["a", "b"]))
    past.enter(FEB, version("policy", "two", 2, groups=["b", "c"]))
    past.restore(MAR, "policy", 1, set_aside="hash of the file")
    assert past.numbers("policy") == [1, 2, 3]
    assert [str(text)[:3] for text in past.texts("policy")] == ["one", "one", "one", "two", "one", "one"]
    back = past.fetched("policy", 3)
    assert (back.document.indexed_at, back.set_aside, groups_of(back)) == (MAR, "hash of the file", {frozenset("b")})
    assert back.standing == Standing(in_force_from=MAR.date())
    assert len(back.entries) == len(back.vectors) > 2
    assert all(part.id.startswith(f"{document_id('policy')}@3#") for part in back.chunks)
    # The newest is never readable by more than what it now is: "two" was for c as well.
    assert past.text_on(FEB, "policy", ["c"]) is None
    assert past.store.ledger()[document_id("policy")].set_aside == "hash of the file"


@pytest.mark.parametrize("number", [1, 2])
def test_a_deleted_document_is_restored_with_any_of_its_versions(past: Past, number: int) -> None:
    past.enter(JAN, version("policy", "one", groups=["a", "b"]))
    past.enter(FEB, version("policy", "two", 2, groups=["b"]))
    past.delete(FEB, "policy")
    past.restore(MAR, "policy", number)
    assert past.texts("policy") == [["one", "two"][number - 1]] * 6
    assert groups_of(past.fetched("policy", 3)) == {frozenset("b")}


def test_what_was_kept_long_enough_is_dropped_and_what_is_found_is_not(past: Past) -> None:
    kept = keeping(past, keep_deleted_days=10)
    kept.enter(JAN, version("policy", "wrong"), version("gone", "x"))
    kept.enter(JAN, version("policy", "one", 2))
    kept.enter(FEB, version("policy", "two", 3))
    kept.delete(FEB, "gone")
    kept.tidy(JAN + timedelta(days=10))
    assert (kept.numbers("policy"), kept.numbers("gone")) == ([1, 2, 3], [1])
    kept.tidy(FEB + timedelta(days=10))
    assert (kept.numbers("policy"), kept.numbers("gone")) == ([2, 3], [1]), "not before its last day is over"
    kept.tidy(FEB + timedelta(days=10, seconds=1))
    assert (kept.numbers("policy"), kept.numbers("gone")) == ([2, 3], [])
    kept.tidy(APR + timedelta(days=10_000))
    assert kept.numbers("policy") == [2, 3]


def test_of_changes_put_together_the_last_put_counts_and_nothing_put_is_dropped() -> None:
    one, two, other = version("a", "one"), version("a", "two"), version("b", "other")
    both = Changes((one, other), (VersionKey("z", 1),)) + Changes((two,), (one.key, VersionKey("y", 1)))
    assert {put.key: put for put in both.put} == {one.key: two, other.key: other}
    assert both.drop == (VersionKey("y", 1), VersionKey("z", 1))


def test_rights_of_a_version_that_nobody_may_read_stay_so(past: Past) -> None:
    past.enter(JAN, version("policy", "one", groups=[]))
    past.enter(FEB, version("policy", "two", 2))
    assert past.fetched("policy", 1).document.rights == Rights(frozenset())
    assert past.text_on(JAN, "policy", ["everyone", "a"]) is None
