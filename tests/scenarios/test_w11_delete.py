"""W11: delete, and prove it. A phrase that stands nowhere else, and all that is derived of it: small chunks, sections
around them, entries of rows and of summaries, headings put before passages, past versions, a named state, vectors that
a killed run has left, a generation that is kept to go back to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import lancedb
import numpy as np
import pytest
from psycopg import sql

from citewell import Index, Principal, Settings
from citewell.errors import UnknownId
from citewell.migration import migrate
from citewell.models.embedder import Embedded
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.models.query_memory import QueryMemory
from citewell.models.shortened import Shortened
from citewell.models.token_vectors import CODEC
from citewell.retrieval.analyser import ANALYSER_VERSION, analyse, analyse_query
from citewell.settings import Models
from citewell.stores.homes import home_at
from citewell.stores.lance import REPLIES, STASH
from citewell.stores.records import pack_embedded, pack_reply
from citewell.stores.stash import Stash
from citewell.stores.store import OWNER, IndexedDocument, MadeWith, Scope, Store, VersionKey
from citewell.types import FileState, Receipt
from tests.clock import at
from tests.remembering_embedder import remembering
from tests.stores import postgres_engine

PHRASE = "Quetzalcoatlus"
REPLY = "what a model said of the vault"
QUESTION = "Which animal guards the vault in Northmoor?"
JAN, FEB, MAR = (datetime(2026, month, 10, 12, tzinfo=UTC) for month in (1, 2, 3))
READERS = [Principal(), Principal("x", frozenset({"board", "staff"}))]
TREE = Settings.model_validate(
    {
        "chunking": {"size": 40, "overlap": 0, "parents": 200, "table_rows": True, "summaries": True},
        "models": {"threads": 1},
        "retrieval": {"floor": "off"},
    }
)
OTHER = "# Branches\n\nBranches open at nine.\n\n## Weekends\n\nAt weekends they are closed, and only machines work.\n"
FILLING = "The procedure is written down here so that nobody needs to ask, and it changes only once a year. " * 3


@pytest.fixture(params=["folder", "database"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "index")
    return postgres_engine.server().url(postgres_engine.schema_for(tmp_path))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    files = tmp_path / "files"
    files.mkdir()
    (files / "branches.md").write_text(OTHER, encoding="utf-8")
    write(files, f"A {PHRASE} guards the vault in Northmoor.")
    return files


@pytest.fixture
def index(place: str, files: Path) -> Iterator[Index]:
    """With two versions of the document, and a state of when it had one."""
    embedder, home = remembering(), home_at(place, TREE.storage)
    home.create(MadeWith(embedder.identity, canaries(embedder), ANALYSER_VERSION, CODEC))
    with Index(home, Encoders(embedder), TREE) as index:
        with at(JAN):
            index.add(files)
            index.name_state("as it was")
        write(files, f"A {PHRASE} guards the vault in Northmoor, and is paid in doubloons.")
        with at(FEB):
            index.add(files)
        yield index


def write(files: Path, sentence: str, heading: str = f"The {PHRASE} procedure") -> None:
    table = f"| Code | Meaning |\n| --- | --- |\n| R-17 | fed {PHRASE} |\n| R-18 | asleep |\n" + "| R-1 | awake |\n" * 9
    text = f"# Vault\n\n## {heading}\n\n{sentence} {FILLING}\n\n### Opening\n\n{FILLING}\n\n### Codes\n\n{table}"
    (files / "vault.md").write_text(text.replace(PHRASE, "dog") if "Stego" in sentence else text, encoding="utf-8")


def store_of(index: Index) -> Store:
    return index._home.open(index._home.pointer().current)


def versions_of(index: Index, files: Path) -> list[IndexedDocument]:
    keys = [VersionKey(one.document_id, one.number) for one in index.history(str(files / "vault.md"))]
    return store_of(index).fetch(keys)


def told(index: Index, day: date | None) -> str:
    """All that any reader can get for a day: of every leg and call that gives a text."""
    got: list[object] = []
    for reader in READERS:
        got += [index.search(query, k=100, principal=reader, as_of=day) for query in (PHRASE, "R-17 doubloons")]
        got.append(index.ask(QUESTION, principal=reader, as_of=day))
        for document in index.documents(principal=reader, as_of=day):
            got += [document, index.show(document.id, principal=reader, as_of=day)]
            got += index.chunks(document.id, principal=reader, as_of=day)
    leg = store_of(index).reader()
    scopes = [OWNER, Scope(None, day)]
    got += [leg.keyword(analyse_query(PHRASE), 99, scope) for scope in scopes]
    near = [leg.dense(index._encoders.embedder.embed_queries([PHRASE])[0], 999, scope) for scope in scopes]
    got += [leg.chunks([match.chunk_id for match in found], scope) for scope, found in zip(scopes, near, strict=True)]
    return "\n".join(map(repr, got))


def sources_told(index: Index, day: date | None) -> set[str]:
    leg = store_of(index).reader()
    near = leg.dense(index._encoders.embedder.embed_queries([PHRASE])[0], 999, Scope(None, day))
    chunks = leg.chunks([match.chunk_id for match in near], Scope(None, day))
    return {chunk.source.rpartition("/")[2] for chunk in chunks.values()}


DAYS = [None, JAN.date() - timedelta(days=9), FEB.date()]


def test_what_is_deleted_is_told_by_nothing_and_comes_back_whole(index: Index, files: Path) -> None:
    before = versions_of(index, files)
    kinds = {item.entry.kind.value for one in before for item in one.entries if PHRASE in item.entry.text}
    assert kinds == {"chunk", "row", "summary"}, "or their absence would prove nothing"
    assert any("#p" in chunk.id and PHRASE in chunk.text for one in before for chunk in one.chunks)
    assert any(PHRASE in heading for one in before for chunk in one.chunks for heading in chunk.heading_path)
    old_ids = [chunk.id for one in before for chunk in one.chunks]
    with at(MAR):
        assert all(PHRASE in told(index, day) for day in DAYS)
        receipt = index.delete(str(files / "vault.md"))
        for day in DAYS:
            assert PHRASE not in told(index, day)
            assert sources_told(index, day) == {"branches.md"}
        for reader in READERS:
            for chunk_id in old_ids:
                with pytest.raises(UnknownId):
                    index.show(chunk_id, principal=reader)
        assert PHRASE not in repr([index.history(str(files / "vault.md")), index.deleted(), index.status()])
        assert_receipt(receipt, before)
        remembering().asked.clear()
        # Undone: all that was there is there again, and nothing had to be embedded.
        assert index.rollback(str(files / "vault.md"))[0].number == 3
        (back,) = (one for one in versions_of(index, files) if one.standing.current)
        assert [item.text_hash for item in back.entries] == [item.text_hash for item in before[1].entries]
        assert [chunk.text for chunk in back.chunks] == [chunk.text for chunk in before[1].chunks]
        assert np.array_equal(back.vectors, before[1].vectors)
        assert all(PHRASE in told(index, day) for day in DAYS)
        index.delete(str(files / "vault.md"))
        states = {report.source.rpartition("/")[2]: report.state for report in index.rollback_to("as it was")}
        assert states == {"vault.md": FileState.UPDATED}
        assert "doubloons" not in told(index, None)
        assert f"A {PHRASE} guards the vault in Northmoor." in told(index, None)
    assert [text for text in remembering().asked if "\n" in text] == [], "but for sentences of answers"


def assert_receipt(receipt: Receipt, before: list[IndexedDocument]) -> None:
    """It counts what was in each leg, each kind of entry on its own."""
    (removed,) = receipt.removed
    entries = Counter(f"{item.entry.kind} entries" for one in before for item in one.entries)
    assert (removed.versions, removed.source.rpartition("/")[2]) == ((1, 2), "vault.md")
    assert removed.parts == {
        "texts": 2,
        "chunks": sum(len(one.chunks) for one in before),
        "dense": entries.total(),
        "keyword": entries.total(),
        "kept versions": 0,
        **entries,
    }
    assert min(entries.values()) > 1
    assert (receipt.kept_until, receipt.purged) == (MAR.date() + timedelta(days=30), False)


def test_the_sentence_before_an_edit_is_told_only_of_the_days_when_it_held(index: Index, files: Path) -> None:
    write(files, "A Stegosaurus guards the vault in Northmoor.", "The procedure")
    with at(MAR):
        index.add(files)
        for day in (None, MAR.date()):
            assert PHRASE not in told(index, day)
            assert "Stegosaurus guards" in told(index, day)
        assert "in doubloons" in told(index, FEB.date())
        # Those of before it go for good with the whole document; the file is taken in anew.
        index.purge(str(files / "vault.md"))
        index.add(files)
        for day in DAYS:
            assert PHRASE not in told(index, day)
        assert [one.number for one in index.history(str(files / "vault.md"))] == [1]


def test_nothing_of_what_was_purged_is_in_any_file(index: Index, files: Path, place: str) -> None:
    before = versions_of(index, files)
    index.delete(str(files / "vault.md"))
    index.rollback(str(files / "vault.md"), 1)
    vectors = {vector.tobytes() for one in before for vector in one.vectors}
    of_words = {item.token_vectors[:96] for one in before for item in one.entries if item.token_vectors}
    assert of_words
    vectors |= of_words
    held = Folder(Path(place)) if not place.startswith("postgresql") else Database(place)
    held.leave_behind(index, before)
    lost = [PHRASE.encode(), REPLY.encode(), *map(str.encode, analyse(PHRASE)), *vectors]
    assert [needle for needle in lost if not held.holds(needle)] == [], "or their absence would prove nothing"
    kept = held.files()
    assert index.purge(str(files / "vault.md")).purged
    assert [needle for needle in lost if held.holds(needle)] == []
    # Compressed, a word would not show. So every file that held any of it is gone, and the new ones were written from
    # rows that are all to be read.
    assert held.rewritten(kept)
    assert held.holds(b"only machines work")
    assert PHRASE not in held.rows()
    for day in DAYS:
        assert PHRASE not in told(index, day)
    for call in (index.history, index.purge, index.rollback):
        with pytest.raises(UnknownId):
            call(str(files / "vault.md"))
    assert index.deleted() == ()


class Folder:
    """The files of an index in a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def leave_behind(self, index: Index, versions: list[IndexedDocument]) -> None:
        """A generation to go back to, and in each the vectors and the reply that a killed run leaves."""
        index._encoders = Encoders(Shortened(remembering(), 128))
        index._queries = QueryMemory(index._encoders, index.settings.cache.queries)
        migrate(index._home, index._encoders, Models(dimensions=128))
        for number in index._home.generations():
            vectors = {
                item.text_hash: row for one in versions for item, row in zip(one.entries, one.vectors, strict=True)
            }
            width = index._home.open(number).made_with.embedder.dimensions
            short = {name: Embedded(row[:width] / np.linalg.norm(row[:width])) for name, row in vectors.items()}
            folder = self._path / "generations" / str(number)
            Stash(folder / STASH).add({name: pack_embedded(made) for name, made in short.items()})
            Stash(folder / REPLIES).add({"ab" * 32: pack_reply(REPLY)})

    def holds(self, needle: bytes) -> bool:
        return any(needle in file.read_bytes() for file in self._path.rglob("*") if file.is_file())

    def files(self) -> set[str]:
        """Those that hold rows, words, or what was done to them; not the pointers."""
        tables = self._path.glob("generations/*/tables/**/*")
        return {str(file) for file in tables if file.is_file() and file.suffix != ".json"}

    def rewritten(self, before: set[str]) -> bool:
        return not before & self.files()

    def rows(self) -> str:
        """All rows of every version that is left of each table."""
        told = []
        for folder in self._path.glob("generations/*/tables"):
            connection = lancedb.connect(folder)
            for name in ("documents", "chunks", "entries"):
                table = connection.open_table(name)
                assert len(table.list_versions()) == 1
                assert not any((folder / f"{name}.lance" / "_deletions").glob("*"))
                told.append(repr(table.to_arrow().to_pylist()))
        assert len(told) == 6
        return "".join(told)


class Database:
    """The files of an index in a database, but for the log of writes."""

    def __init__(self, url: str) -> None:
        self._server = postgres_engine.server()
        self._schema = url.rpartition("=")[2]

    def leave_behind(self, index: Index, versions: list[IndexedDocument]) -> None:
        with pytest.raises(KeyboardInterrupt), index._upkeep.writing() as store:
            self._cut_short(store, versions)

    def _cut_short(self, store: Store, versions: list[IndexedDocument]) -> None:
        with store.writing():
            store.stash(
                {
                    item.text_hash: Embedded(row, item.token_vectors)
                    for one in versions
                    for item, row in zip(one.entries, one.vectors, strict=True)
                }
            )
            store.stash_replies({"ab" * 32: REPLY})
            raise KeyboardInterrupt

    def holds(self, needle: bytes) -> bool:
        with self._server.connect() as connection:
            connection.execute("CHECKPOINT")
        folder = self._server.folder / "data"
        return any(needle in (folder / name).read_bytes() for name in self.files() if (folder / name).exists())

    def files(self) -> set[str]:
        """Those of the tables, what is moved out of their rows, and the indexes."""
        query = """
            WITH tables AS (
                SELECT c.oid, c.reltoastrelid FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                WHERE nspname LIKE %s AND relkind = 'r' AND relname NOT IN ('pointer', 'generation')
            ), every AS (SELECT oid FROM tables UNION SELECT reltoastrelid FROM tables)
            SELECT pg_relation_filepath(e.oid) FROM every e WHERE e.oid <> 0
            UNION SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid IN (SELECT oid FROM every)
        """
        with self._server.connect() as connection:
            return {str(path) for (path,) in connection.execute(query, [f"{self._schema}%"]).fetchall()}

    def rewritten(self, before: set[str]) -> bool:
        return not before & self.files()

    def rows(self) -> str:
        told = []
        with self._server.connect() as connection:
            names = connection.execute(
                "SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE %s", [f"{self._schema}%"]
            ).fetchall()
            for name in names:
                rows = connection.execute(sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(*name))).fetchall()
                told.append(repr(rows))
        return "".join(told)
