"""What every store does, whatever its engine. Each test here has failed on some engine that was looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import IndexLocked
from citewell.models.sparse import PACKED
from citewell.stores.store import OWNER, Counts, IndexedDocument, Scope, Store
from citewell.types import EVERYONE
from tests.stores.conftest import Engine
from tests.stores.corpus import DIMENSIONS, bm25, commit, indexed, key, sparse, sparse_of, unit_vectors, zipf_texts

READER = Scope(groups=frozenset({EVERYONE}))


def texts_of(*documents: IndexedDocument) -> dict[str, str]:
    return {item.entry.id: item.tokens for document in documents for item in document.entries}


def keyword_scores(store: Store, *tokens: str, k: int = 1_000) -> dict[str, float]:
    return {match.entry_id: match.score for match in store.reader().keyword(tokens, k, OWNER)}


def test_an_empty_store_answers_everything_with_nothing(store: Store) -> None:
    vector = unit_vectors(1, 0)[0]
    reader = store.reader()
    assert reader.dense(vector, 5, OWNER) == []
    assert reader.keyword(["word"], 5, OWNER) == []
    assert reader.sparse(sparse_of("word"), 5, OWNER) == []
    assert reader.vectors(["e"], OWNER) == {}
    assert reader.chunks(["c"], OWNER) == {}
    assert reader.documents(OWNER) == []
    assert reader.document("d", OWNER) is None
    assert reader.document_chunks("d", OWNER) == []
    assert store.ledger() == {}
    assert store.embedded(["00"]) == {}
    assert store.replies(["d"]) == {}
    assert reader.token_vectors(["e"], OWNER) == {}
    assert reader.counts(READER) == Counts(0, 0, 0)


def test_what_is_stored_comes_back_equal(engine: Engine, tmp_path: Path) -> None:
    first, second = indexed("b", ["one two", "three"]), indexed("a", ["four"], groups=["x"], valid_to=date(2026, 1, 1))
    store = engine.filled(tmp_path, [first, second])
    reader = store.reader()
    assert reader.document("b", OWNER) == first.document
    assert reader.document_chunks("b", OWNER) == list(first.chunks)
    assert reader.chunks(["b/0001", "a/0000", "none"], OWNER) == {
        "b/0001": first.chunks[1],
        "a/0000": second.chunks[0],
    }
    assert reader.documents(OWNER) == [replace(d.document, text="", elements=()) for d in (second, first)]
    assert reader.counts(OWNER) == Counts(2, 3, 3)
    line = store.ledger()["a"]
    assert (line.document_id, line.source, line.content_hash, line.recipe) == (
        "a",
        second.document.source,
        second.document.content_hash,
        "recipe-1",
    )
    known = store.embedded([second.entries[0].text_hash, "00"])
    assert list(known) == [second.entries[0].text_hash]
    np.testing.assert_array_equal(known[second.entries[0].text_hash].vector, second.vectors[0])
    assert known[second.entries[0].text_hash].tokens == second.entries[0].token_vectors
    assert known[second.entries[0].text_hash].sparse == second.entries[0].sparse != b""


def test_a_commit_is_seen_at_once_by_both_legs_and_not_by_an_older_reader(store: Store) -> None:
    old, other = indexed("d", ["alpha beta", "alpha"]), indexed("other", zipf_texts(12, 1))
    with store.writing():
        store.commit([old, other])
        assert set(keyword_scores(store, "alpha")) == {"d/0000/e", "d/0001/e"}
        before = store.reader()
        assert store.reader() is before
    assert store.reader().dense(old.vectors[0], 1, OWNER)[0].entry_id == "d/0000/e"
    assert set(keyword_scores(store, "alpha")) == {"d/0000/e", "d/0001/e"}

    new = indexed("d", ["gamma"], vectors=unit_vectors(1, 77))
    commit(store, [new])
    assert keyword_scores(store, "alpha") == {}
    assert set(keyword_scores(store, "gamma")) == {"d/0000/e"}
    (match,) = store.reader().dense(new.vectors[0], 1, OWNER)
    assert (match.entry_id, match.chunk_id) == ("d/0000/e", "d/0000")
    assert match.score == pytest.approx(1, abs=1e-6)
    assert len(store.reader().dense(new.vectors[0], 100, OWNER)) == 13
    assert before.document("d", OWNER) == old.document
    assert len(before.keyword(["alpha"], 9, OWNER)) == 2

    commit(store, [], [key("d"), key("never was")])
    assert keyword_scores(store, "gamma") == {}
    assert "d/0000/e" not in {match.entry_id for match in store.reader().dense(new.vectors[0], 100, OWNER)}
    assert store.reader().document("d", OWNER) is None
    assert store.reader().document_chunks("d", OWNER) == []
    assert store.reader().counts(OWNER) == Counts(1, 12, 12)


def test_bm25_is_the_textbooks_before_and_after_changes(store: Store) -> None:
    kept = indexed("kept", zipf_texts(150, 1))
    commit(store, [kept, indexed("d", zipf_texts(20, 2)), indexed("gone", zipf_texts(9, 3))])
    commit(store, [], [key("gone")])
    changed = indexed("d", zipf_texts(5, 4))
    commit(store, [changed])
    for query in (["w3"], ["w1", "w60", "w200"], ["w2", "w2", "w9"]):
        expected = bm25(texts_of(kept, changed), query)
        assert keyword_scores(store, *query) == pytest.approx(expected, rel=1e-5)
        best = [match.score for match in store.reader().keyword(query, 7, OWNER)]
        assert best == pytest.approx(sorted(expected.values(), reverse=True)[:7], rel=1e-5)


def test_scores_fall_and_ties_go_by_entry_id(store: Store) -> None:
    vectors = np.repeat(unit_vectors(1, 5), 60, axis=0)
    commit(store, [indexed(f"d{number:02d}", ["same words"], vectors=vectors[:1]) for number in reversed(range(60))])
    expected = [f"d{number:02d}/0000/e" for number in range(9)]
    assert [match.entry_id for match in store.reader().dense(vectors[0], 9, OWNER)] == expected
    assert [match.entry_id for match in store.reader().keyword(["same"], 9, OWNER)] == expected
    assert store.reader().dense(vectors[0], 0, OWNER) == []


HOSTILE_TOKENS = [
    "(", ")", "+", "-x", "a:b", "AND", "OR", "NOT", '"quoted"', "'", "*", "w*", "~1", "^2", "[a", "\\", "<x>", "é", "É",
    "日本語", "🙂", "c++", "c#", "R-17", "r-17", "the", "running", "x" * 5_000, "\x00", "\x1f",
]  # fmt: skip


def test_any_token_is_taken_as_it_stands(store: Store) -> None:
    commit(store, [indexed("d", [f"common {token}" for token in HOSTILE_TOKENS])])
    for place, token in enumerate(HOSTILE_TOKENS):
        assert set(keyword_scores(store, token)) == {f"d/{place:04d}/e"}, token
    assert len(keyword_scores(store, "common")) == len(HOSTILE_TOKENS)
    assert keyword_scores(store, "common é", "commo", "", "Common") == {}


HOSTILE_GROUPS = [
    "o'brien", "a''b", 'say "x"', "a\nb", "\t", "back\\slash", "a\\'", "%", "_", "`", "$1", "?", "'; --", "/*", "]",
    "['a']", "日本", "🙂", "\u202e", " ", "", "null", "true", "x') OR true --", "everyone ",
]  # fmt: skip


def test_a_group_is_a_name_and_nothing_more(store: Store) -> None:
    commit(store, [indexed(f"d{number}", ["word"], groups=[group]) for number, group in enumerate(HOSTILE_GROUPS)])
    reader = store.reader()
    vector = unit_vectors(1, 0)[0]
    for number, group in enumerate(HOSTILE_GROUPS):
        scope = Scope(groups=frozenset({group}))
        entry = f"d{number}/0000/e"
        assert [match.entry_id for match in reader.dense(vector, 99, scope)] == [entry], group
        assert [match.entry_id for match in reader.keyword(["word"], 99, scope)] == [entry], group
        assert [document.id for document in reader.documents(scope)] == [f"d{number}"], group
    assert reader.counts(Scope(groups=frozenset({"x"}))) == Counts(0, 0, 0)


def test_documents_are_found_on_the_days_they_are_in_force(store: Store) -> None:
    commit(
        store,
        [
            indexed("always", ["word"]),
            indexed("until", ["word"], valid_to=date(2025, 12, 31)),
            indexed("from", ["word"], valid_from=date(2026, 1, 1)),
            indexed("day", ["word"], valid_from=date(2026, 2, 1), valid_to=date(2026, 2, 1)),
            indexed("secret", ["word"], groups=["x"], valid_from=date(2026, 1, 1)),
        ],
    )
    reader, vector = store.reader(), unit_vectors(1, 0)[0]
    for on, expected in (
        (date(2025, 12, 31), {"always", "until"}),
        (date(2026, 1, 1), {"always", "from"}),
        (date(2026, 2, 1), {"always", "from", "day"}),
        (date.min, {"always", "until"}),
        (date.max, {"always", "from"}),
        (None, {"always", "until", "from", "day"}),
    ):
        scope = replace(READER, on=on)
        assert {document.id for document in reader.documents(scope)} == expected
        assert {match.entry_id.split("/")[0] for match in reader.dense(vector, 9, scope)} == expected
        assert {match.entry_id.split("/")[0] for match in reader.keyword(["word"], 9, scope)} == expected
        assert set(reader.chunks([f"{name}/0000" for name in store.ledger()], scope)) == {f"{n}/0000" for n in expected}


NO_SPARSE_VECTORS = [
    b"\0",
    sparse({3: 1.0}).pack() * 2,
    sparse({5: 1.0}).pack() + sparse({3: 1.0}).pack(),
    *(np.array([(3, weight)], PACKED).tobytes() for weight in (0.0, -1.0, np.nan, np.inf)),
    sparse({1_000_000_000: 1.0}).pack(),
    sparse(dict.fromkeys(range(16_001), 1.0)).pack(),
]


def test_a_bad_batch_is_refused_whole(store: Store) -> None:
    good = indexed("good", ["one", "two"])
    commit(store, [good])
    wrong = indexed("wrong", ["three"])
    nan = wrong.vectors.copy()
    nan[0, 0] = np.nan
    stray = replace(wrong, chunks=(replace(wrong.chunks[0], document_id="good"),))
    twice = replace(wrong, chunks=wrong.chunks * 2)
    named = indexed("wrong", ["three"], groups=["a\0b"])
    surrogate = replace(wrong, document=replace(wrong.document, title="\ud800"))
    for bad in (
        replace(wrong, vectors=unit_vectors(1, 0, DIMENSIONS + 1)),
        replace(wrong, vectors=unit_vectors(2, 0)),
        replace(wrong, vectors=wrong.vectors * 2),
        replace(wrong, vectors=nan),
        stray,
        twice,
        named,
        surrogate,
        *(replace(wrong, entries=(replace(wrong.entries[0], sparse=packed),)) for packed in NO_SPARSE_VECTORS),
    ):
        with pytest.raises(ValueError, match=r"."):
            commit(store, [indexed("good", ["replaced"]), bad], [key("good")])
    with pytest.raises(ValueError, match=r"'wrong.*' is in the batch more than once"):
        commit(store, [wrong, wrong])
    assert store.reader().document("good", OWNER) == good.document
    assert store.reader().counts(OWNER) == Counts(1, 2, 2)


def test_a_commit_outside_a_run_is_refused(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside"):
        store.commit([indexed("d", ["one"])])


def test_a_second_writer_is_refused_only_while_the_first_writes(engine: Engine, store: Store, tmp_path: Path) -> None:
    second = engine.open(tmp_path / "index")
    with store.writing():
        store.commit([indexed("a", ["one"])])
        with pytest.raises(IndexLocked, match="is being written to by process"):
            commit(second, [indexed("b", ["two"])])
        assert second.reader().counts(OWNER).documents == 1, "reading goes on"
    commit(second, [indexed("b", ["two"])])
    assert store.reader().counts(OWNER).documents == 2
    second.close()


def test_reopening_finds_what_was_committed(engine: Engine, tmp_path: Path) -> None:
    document = indexed("d", zipf_texts(8, 1))
    engine.filled(tmp_path, [document]).close()
    again = engine.open(tmp_path)
    assert again.reader().document("d", OWNER) == document.document
    assert keyword_scores(again, "w1") == pytest.approx(bm25(texts_of(document), ["w1"]), rel=1e-5)
    assert again.reader().dense(document.vectors[3], 1, OWNER)[0].entry_id == "d/0003/e"
    again.close()


def test_token_vectors_are_those_of_the_entries_in_scope(store: Store) -> None:
    shown, hidden = indexed("shown", ["one two", "three"]), indexed("hidden", ["four"], groups=["x"])
    bare = indexed("bare", ["five"])
    bare = replace(bare, entries=(replace(bare.entries[0], token_vectors=b""),))
    commit(store, [shown, hidden, bare])
    ids = ["shown/0001/e", "hidden/0000/e", "bare/0000/e", "none"]
    assert store.reader().token_vectors(ids, READER) == {"shown/0001/e": shown.entries[1].token_vectors}
    assert store.reader().token_vectors([], READER) == {}
    assert [one.entries for one in store.fetch([shown.key, bare.key])] == [bare.entries, shown.entries]


def test_vectors_are_those_of_the_entries_in_scope(store: Store) -> None:
    shown, hidden = indexed("shown", ["one", "two"]), indexed("hidden", ["three"], groups=["x"])
    commit(store, [shown, hidden])
    vectors = store.reader().vectors(["shown/0001/e", "hidden/0000/e", "none"], READER)
    assert list(vectors) == ["shown/0001/e"]
    assert vectors["shown/0001/e"].dtype == np.float32
    np.testing.assert_array_equal(vectors["shown/0001/e"], shown.vectors[1])
    assert store.reader().vectors([], READER) == {}
