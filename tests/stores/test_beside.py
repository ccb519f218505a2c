"""What is beside a store never makes an answer wrong: not when it is behind, cut short, emptied, or mistaken."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import IndexLocked
from citewell.filters import And, Contains, Equal, FieldType, Filter, In, Not, Or, Range, matches
from citewell.models.embedder import Vectors
from citewell.settings import Storage
from citewell.stores.beside.beside import VectorsBeside
from citewell.stores.beside.points import built_in
from citewell.stores.beside.vector_index import Allowed, Found, Points, VectorIndex
from citewell.stores.lance import LanceStore
from citewell.stores.lance_reader import LanceReader
from citewell.stores.store import OWNER, IndexedDocument, Match, Scope, Standing
from citewell.types import EVERYONE, Ending, FieldValue
from tests.stores.beside_engines import BESIDE, IN_FILES, Factories
from tests.stores.corpus import commit, declare, indexed, key, made_with, unit_vectors

FIELDS = {"kind": FieldType.TEXT, "amount": FieldType.NUMBER, "signed": FieldType.DATE, "tags": FieldType.LIST}
VECTOR = unit_vectors(1, 0)[0]
ONE_OF_EACH = [name for name in BESIDE if "-" not in name]
LOCAL = [name for name in ("qdrant", "milvus") if name in IN_FILES]


@pytest.fixture(params=ONE_OF_EACH)
def factories(request: pytest.FixtureRequest) -> Factories:
    return BESIDE[request.param]


@pytest.fixture
def store(factories: Factories, tmp_path: Path) -> Iterator[VectorsBeside]:
    create, _ = factories
    store = create(tmp_path / "index")
    yield store
    store.close()


@pytest.fixture
def base_is_mute(monkeypatch: pytest.MonkeyPatch) -> None:
    """No vector is searched for in the base: what is found, the engine found."""

    def refuse(*_: object) -> list[Match]:
        raise AssertionError("the base was asked for the nearest vectors")

    monkeypatch.setattr(LanceReader, "dense", refuse)


def corpus(count: int = 60) -> list[IndexedDocument]:
    """Documents of many rights, days and values, some of them past."""
    chance = np.random.default_rng(5)
    past = Standing(current=False, ended_at=datetime.fromisoformat("2026-06-01T00:00Z"), ending=Ending.REPLACED)
    made = []
    for number in range(count):
        fields: dict[str, FieldValue] = {}
        if chance.random() < 0.8:
            fields["kind"] = str(chance.choice(["a", "b'", "ü"]))
        if chance.random() < 0.8:
            fields["amount"] = float(chance.integers(-2, 3))
        if chance.random() < 0.8:
            fields["signed"] = date(2026, 1, int(chance.integers(1, 5)))
        if chance.random() < 0.8:
            fields["tags"] = tuple(chance.choice(["red", "blue", "x y"], size=2))
        groups = chance.choice([EVERYONE, "g1", "g'2"], size=int(chance.integers(0, 3)))
        standing = Standing(in_force_from=date(2026, 1, 1 + number % 9), in_force_to=date(2026, 2, 1 + number % 9))
        if number % 5 == 0:
            standing = replace(past, in_force_from=standing.in_force_from, in_force_to=standing.in_force_to)
        made.append(indexed(f"d{number:02d}", ["one", "two"], groups=groups, fields=fields, standing=standing))
    return made


def in_scope(indexed: IndexedDocument, scope: Scope) -> bool:
    standing, values = indexed.standing, {**indexed.document.fields, **built_in(indexed.document)}
    day = scope.on
    in_force = standing.current if day is None else standing.in_force_from <= day <= standing.in_force_to  # type: ignore[operator]  # both are days here
    readable = scope.groups is None or not indexed.document.rights.groups.isdisjoint(scope.groups)
    return in_force and readable and (scope.where is None or matches(scope.where, values))


def nearest(documents: Sequence[IndexedDocument], k: int, scope: Scope) -> list[str]:
    """The truth, by comparing each."""
    scores = {
        item.entry.id: float(vector @ VECTOR)
        for one in documents
        if in_scope(one, scope)
        for item, vector in zip(one.entries, one.vectors, strict=True)
    }
    return sorted(scores, key=lambda entry: (-scores[entry], entry))[:k]


def found(store: VectorsBeside, k: int, scope: Scope) -> list[str]:
    return [match.entry_id for match in store.reader().dense(VECTOR, k, scope)]


SOME, DAY = frozenset({"g1", "nobody's"}), date(2026, 1, 5)
BY_TAGS: list[Filter] = [
    Equal("kind", "a"),
    Not(Equal("kind", "b'")),
    In("kind", ("ü", "none")),
    Equal("amount", 0.0),
    Equal("amount", -0.0),
    Equal("amount", 2),
    In("signed", (date(2026, 1, 1), date(2026, 1, 3))),
    Equal("tags", "red"),
    Not(In("tags", ("red", "x y"))),
    Equal("title", "Title of d07"),
    Not(Equal("source", "file:///d08")),
    And((Equal("trust", "unreviewed"), Or((Equal("kind", "a"), Not(Equal("tags", "blue")))))),
]
BY_ORDER: list[Filter] = [
    Range("amount", least=0.0),
    Contains("kind", "b"),
    And((Equal("kind", "a"), Range("signed", most=date(2026, 1, 2)))),
]


@pytest.mark.usefixtures("base_is_mute")
def test_the_engine_finds_what_is_in_scope_and_nothing_else(store: VectorsBeside) -> None:
    documents = corpus()
    declare(store, FIELDS)
    commit(store, documents)
    assert not store.stale
    for groups in (None, SOME, frozenset({EVERYONE, "g'2"})):
        for on in (None, DAY, date(2026, 2, 9)):
            for where in (None, *(BY_TAGS if groups != SOME else ())):
                scope = Scope(groups, on, where)
                assert found(store, 4, scope) == nearest(documents, 4, scope), scope


def test_what_tags_cannot_tell_the_base_answers(store: VectorsBeside) -> None:
    documents = corpus(20)
    declare(store, FIELDS)
    commit(store, documents)
    for where in BY_ORDER:
        assert found(store, 4, Scope(None, None, where)) == nearest(documents, 4, Scope(None, None, where))


@pytest.mark.usefixtures("base_is_mute")
def test_the_engine_follows_each_commit(store: VectorsBeside) -> None:
    first, second = indexed("d", ["a", "b", "c"]), indexed("e", ["a"])
    commit(store, [first])
    commit(store, [second], [key("none")])
    assert found(store, 9, OWNER) == nearest([first, second], 9, OWNER)
    changed = indexed("d", ["x"], vectors=unit_vectors(1, 9))
    commit(store, [changed])
    assert found(store, 9, OWNER) == nearest([changed, second], 9, OWNER)
    past = replace(changed, standing=Standing(current=False, in_force_to=DAY, ending=Ending.REPLACED))
    commit(store, [past, indexed("d", ["y"], number=2)], [key("e")])
    assert found(store, 9, OWNER) == ["d@2/0000/e"]
    assert found(store, 9, Scope(None, DAY)) == nearest([indexed("d", ["y"], number=2), changed], 9, OWNER)
    commit(store, [], [key("d"), key("d", 2)])
    assert found(store, 9, OWNER) == []


def test_who_reopens_finds_the_engine_as_it_was(factories: Factories, tmp_path: Path) -> None:
    create, reopen = factories
    documents = corpus(12)
    store = create(tmp_path)
    commit(store, documents)
    store.close()
    again = reopen(tmp_path)
    assert not again.stale
    assert found(again, 5, OWNER) == nearest(documents, 5, OWNER)
    again.close()


def test_a_writer_that_dies_before_the_engine_follows_costs_only_time(
    store: VectorsBeside, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = indexed("d", ["a", "b"]), indexed("e", ["c"])
    commit(store, [before])
    commit(store.base, [after])
    assert store.stale
    assert found(store, 9, OWNER) == nearest([before, after], 9, OWNER)
    with store.writing():
        pass
    assert not store.stale
    monkeypatch.setattr(LanceReader, "dense", None)
    assert found(store, 9, OWNER) == nearest([before, after], 9, OWNER)


INSIDE_APPLY = ("faiss_index._sync", "qdrant_terms.structs", "milvus_terms.rows")


def test_an_engine_cut_short_is_not_asked_and_is_mended(store: VectorsBeside, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [indexed("d", ["a", "b"]), indexed("e", ["c"])]
    commit(store, documents[:1])

    def interrupt(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        for place in INSIDE_APPLY:
            patch.setattr(f"citewell.stores.beside.{place}", interrupt)
        with pytest.raises(InterruptedError):
            commit(store, [indexed("d", ["x"], vectors=unit_vectors(1, 3)), documents[1]])
    assert store.stale
    assert set(found(store, 9, OWNER)) == {"d/0000/e", "e/0000/e"}
    commit(store, documents)
    assert not store.stale
    assert found(store, 9, OWNER) == nearest(documents, 9, OWNER)


def test_an_older_reader_stays_at_its_state(store: VectorsBeside) -> None:
    first, second = indexed("d", ["a", "b"]), indexed("e", ["c"])
    commit(store, [first])
    reader = store.reader()
    assert store.reader() is reader
    commit(store, [second], [key("d")])
    assert [match.entry_id for match in reader.dense(VECTOR, 9, OWNER)] == nearest([first], 9, OWNER)
    assert found(store, 9, OWNER) == ["e/0000/e"]


def test_a_field_declared_later_has_no_values_in_the_engine_either(store: VectorsBeside) -> None:
    without, day = Scope(None, None, Not(Equal("kind", "a"))), date(2025, 1, 1)
    old, new = indexed("old", ["w"], fields={"kind": "a"}), indexed("new", ["w"], fields={"kind": "a"})
    past = Standing(current=False, in_force_to=DAY, ending=Ending.REPLACED)
    commit(store, [old, indexed("old", ["v"], number=2, fields={"kind": "a"}, standing=past)])
    declare(store, {"kind": FieldType.TEXT})
    commit(store, [new])
    for _ in range(2):
        assert not store.stale
        assert found(store, 9, without) == ["old/0000/e"]
        assert set(found(store, 9, replace(without, on=day))) == {"old/0000/e", "old@2/0000/e"}
        store.rebuild()


@pytest.mark.parametrize("kind", FieldType)
def test_a_rebuilt_engine_has_the_values_that_the_base_has(tmp_path: Path, kind: FieldType) -> None:
    values: dict[FieldType, FieldValue] = {
        FieldType.TEXT: "",
        FieldType.NUMBER: -1.5,
        FieldType.DATE: date(1, 1, 1),
        FieldType.LIST: ("x",),
    }
    value = values[kind]
    store = BESIDE["faiss"][0](tmp_path)
    declare(store, {"f": kind})
    commit(store, [indexed("has", ["w"], fields={"f": value}), indexed("none", ["w"])])
    store.rebuild()
    wanted = Equal("f", value[0] if isinstance(value, tuple) else value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LanceReader, "dense", None)
        assert found(store, 9, Scope(None, None, wanted)) == ["has/0000/e"]
        assert found(store, 9, Scope(None, None, Not(wanted))) == ["none/0000/e"]
    store.close()


def test_a_field_that_comes_back_does_not_bring_its_old_values(store: VectorsBeside) -> None:
    commit(store, [])
    declare(store, {"kind": FieldType.TEXT})
    commit(store, [indexed("d", ["w"], fields={"kind": "a"})])
    declare(store, {})
    declare(store, {"kind": FieldType.TEXT})
    assert not store.stale
    assert found(store, 9, Scope(None, None, Not(Equal("kind", "a")))) == ["d/0000/e"]


def traces(store_path: Path, document: IndexedDocument) -> set[str]:
    """What of a document's first entry is in the files of the engine."""
    vector = document.vectors[0][:3]
    looked_for = {
        "entry": document.entries[0].entry.id.encode(),
        "floats": vector.tobytes(),
        "doubles": vector.astype(np.float64).tobytes(),
        "pickled": b"".join(b"G" + struct.pack(">d", one) for one in vector.tolist()),
        "text": document.chunks[0].text.encode(),
        "title": document.document.title.encode(),
        "group": b"the-secret-group",
        "value": b"the-secret-value",
    }
    contents = [path.read_bytes() for path in (store_path / "vectors").rglob("*") if path.is_file()]
    return {name for name, wanted in looked_for.items() if any(wanted in content for content in contents)}


@pytest.mark.parametrize("name", IN_FILES)
def test_no_text_reaches_the_engine_and_what_is_erased_leaves_it(name: str, tmp_path: Path) -> None:
    create, reopen = BESIDE[name]
    secret = indexed(
        "secret", ["the text of the secret"], groups=["the-secret-group"], fields={"f": "the-secret-value"}
    )
    kept = indexed("kept", ["w"])
    store = create(tmp_path)
    declare(store, {"f": FieldType.TEXT})
    commit(store, [secret, kept])
    store.close()  # Milvus Lite writes its files then
    present = traces(tmp_path, secret)
    assert "entry" in present
    assert present & {"floats", "doubles", "pickled"}
    assert not present & {"text", "title", "group", "value"}

    store = reopen(tmp_path)
    with store.writing():
        store.commit([], [secret.key])
        store.erase()
    assert found(store, 9, OWNER) == ["kept/0000/e"]
    store.close()
    assert traces(tmp_path, secret) == set()
    assert "entry" in traces(tmp_path, kept)


def test_an_engine_can_be_discarded(store: VectorsBeside, tmp_path: Path) -> None:
    document = indexed("d", ["words of it"])
    commit(store, [document])
    store.discard()
    assert store.stale
    assert traces(tmp_path / "index", document) == set()
    assert found(store, 9, OWNER) == ["d/0000/e"]


HOLD = """
import sys, time
from pathlib import Path
from tests.stores.beside_engines import BESIDE
store = BESIDE[sys.argv[1]][1](Path(sys.argv[2]))
print(store.stale, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_form_in_another_process_costs_only_time(name: str, tmp_path: Path) -> None:
    create, reopen = BESIDE[name]
    first, second = indexed("d", ["a", "b"]), indexed("e", ["c"])
    store = create(tmp_path)
    commit(store, [first])
    store.close()
    command = [sys.executable, "-c", HOLD, name, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "False\n"
        store = reopen(tmp_path)
        assert store.stale
        assert found(store, 9, OWNER) == nearest([first], 9, OWNER)
        commit(store, [second])
        assert found(store, 9, OWNER) == nearest([first, second], 9, OWNER)
        with pytest.raises(IndexLocked, match="for one at a time"):
            store.rebuild()
        other.communicate()
    assert store.stale
    store.rebuild()
    assert not store.stale
    store.close()


COMMIT_ON = """
import sys
from itertools import count
from pathlib import Path
from tests.stores.beside_engines import BESIDE
from tests.stores.corpus import indexed, key
store = BESIDE[sys.argv[1]][1](Path(sys.argv[2]))
for number in count():
    with store.writing():
        store.commit([indexed(f"d{number % 7}", [f"w{number}"] * (number % 3 + 1))], [key(f"d{(number + 3) % 7}")])
    if number == 0:
        print("ready", flush=True)
"""


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_kill_at_any_moment_leaves_no_wrong_answer(name: str, tmp_path: Path) -> None:
    create, reopen = BESIDE[name]
    create(tmp_path).close()
    command = [sys.executable, "-c", COMMIT_ON, name, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.05, 1.0))
        writer.kill()
    store = reopen(tmp_path)
    for _ in range(2):
        expected = [match.entry_id for match in store.base.reader().dense(VECTOR, 30, OWNER)]
        assert found(store, 30, OWNER) == expected
        commit(store, [])
        assert not store.stale
    store.close()


@dataclass(slots=True)
class ScriptedEngine:
    """Agrees with whatever it was told last, and finds what it is told to."""

    finds: list[Found] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: [""])
    changes_while_searching: bool = False

    def state(self) -> str:
        return self.names[-1]

    def apply(self, put: Points, drop: Collection[str], state: str) -> None:  # noqa: ARG002  # see `VectorIndex`
        self.names.append(state)

    def search(self, vector: Vectors, k: int, allowed: Allowed, *, exact: bool) -> list[Found]:  # noqa: ARG002
        if self.changes_while_searching:
            self.names.append("another/state")
        return self.finds[:k]

    def reset(self) -> None:
        self.names.append("")

    def close(self) -> None:
        pass


A, B, HIDDEN = (Found(f"{name}/0000/e", f"{name}/0000") for name in ("a", "b", "hidden"))


@pytest.mark.parametrize(
    "engine",
    [
        ScriptedEngine([A]),
        ScriptedEngine([A, HIDDEN]),
        ScriptedEngine([A, Found("never/was", "never")]),
        ScriptedEngine([A, B], changes_while_searching=True),
        ScriptedEngine([]),
    ],
    ids=["too few", "one out of scope", "one that is not there", "changed meanwhile", "none"],
)
def test_a_mistaken_engine_is_found_out(engine: ScriptedEngine, tmp_path: Path) -> None:
    base = LanceStore.create(tmp_path, made_with(), Storage())
    index: VectorIndex = engine
    store = VectorsBeside(base, index, exact_up_to=0)
    documents = [indexed("a", ["w"]), indexed("b", ["w"]), indexed("hidden", ["w"], groups=["others"])]
    commit(store, documents)
    scope = Scope(frozenset({EVERYONE}))
    assert found(store, 2, scope) == nearest(documents, 2, scope)
    store.close()


@pytest.mark.parametrize("name", BESIDE)
def test_a_cut_through_near_ties_goes_by_the_bases_cosines(name: str, tmp_path: Path) -> None:
    vectors = np.repeat(unit_vectors(1, 5), 60, axis=0)
    vectors[::2] *= np.float32(1 + 2e-7)  # of a length that is 1 to the last digits but one
    documents = [
        indexed(f"d{number:02d}", ["w"], vectors=vectors[number : number + 1]) for number in reversed(range(60))
    ]
    store = BESIDE[name][0](tmp_path)
    commit(store, documents)
    base = [(match.entry_id, match.score) for match in store.base.reader().dense(VECTOR, 7, OWNER)]
    best = [(match.entry_id, match.score) for match in store.reader().dense(VECTOR, 7, OWNER)]
    vectors_of = store.reader().vectors([f"d{number:02d}/0000/e" for number in range(60)], OWNER)
    scores = {entry_id: float(np.dot(row, VECTOR)) for entry_id, row in vectors_of.items()}
    assert best == sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:7]
    assert [score for _, score in best] == pytest.approx([score for _, score in base], abs=1e-6)
    store.close()
