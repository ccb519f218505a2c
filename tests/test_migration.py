"""An index moves to another embedder and back, and is whole at every moment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell import Index, Principal, Settings, synchronise
from citewell.errors import FingerprintMismatch, IndexLocked, Refused, SettingsError, UsageError
from citewell.filters import Equal
from citewell.generations import Beside, beside, erasing, stores_beside, tidy
from citewell.loading.given import from_text
from citewell.migration import Comparison, Measure, Migration, Searched, migrate, recorded, roll_back, with_embedder
from citewell.models import configured
from citewell.models.embedder import Embedder
from citewell.models.encoding import Encoders
from citewell.retrieval.query import Query
from citewell.retrieval.search import search
from citewell.settings import Models, Retrieval, Storage
from citewell.stores import lance_writing
from citewell.stores.folder import FolderHome
from citewell.stores.store import OWNER, MadeWith, Store, VersionKey
from citewell.types import Document, FileState, Progress, Trace
from tests.models.onnx_folders import SPECIAL, masked_lm_in, minilm_in
from tests.scripted_embedder import ScriptedEmbedder

RULE = "A customer may dispute a card payment within 120 days of the transaction date."
QUESTION = "How many days does a customer have to dispute a card payment?"
VAULT = "The code word for the vault of the head office is Meadow."
HOURS = "The branch in Northmoor is open from nine to five on weekdays."
LONG = Models(threads=1)
SHORT = Models(threads=1, dimensions=128)
BOARD = Principal("x", frozenset({"board"}))
FIELDS = {"metadata": {"fields": {"kind": "text"}}}


def document(name: str, text: str, **given: Any) -> Document:
    return from_text(text, source=f"bank:{name}", title=name, **given)


def settings(models: Models) -> Settings:
    return Settings.model_validate({"models": models.model_dump(), **FIELDS})


def opened(path: Path, models: Models) -> Index:
    return Index.open(path, settings=settings(models))


def home_of(path: Path) -> FolderHome:
    return FolderHome(path, Storage())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents with rights, fields, a past version and a deleted one; the embedder in the package."""
    path = tmp_path_factory.mktemp("made") / "index"
    with Index.create(path, settings=settings(LONG)) as index:
        index.add_documents(
            [
                document("policy", "A customer has 90 days.", valid_from=date(2025, 1, 1)),
                document("vault", VAULT, groups=["board"]),
                document("copy", RULE),
                document("gone", "Cheques are no longer accepted."),
                replace(document("hours", HOURS), fields={"kind": "notice"}),
            ]
        )
        index.add_documents([document("policy", RULE, valid_from=date(2026, 1, 1))])
        index.delete("bank:gone")
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "index"))


@pytest.fixture
def home(path: Path) -> Iterator[FolderHome]:
    home = home_of(path)
    yield home
    home.close()


def migrated(home: FolderHome, models: Models = SHORT, **given: Any) -> Migration:
    return migrate(home, Encoders(configured.embedder(models)), models, **given)


def texts_of(store: Store) -> set[str]:
    versions = [VersionKey(one.document_id, one.number) for one in store.versions() if one.searchable]
    return {item.entry.text for one in store.fetch(versions) for item in one.entries}


def assert_is_of(store: Store, embedder: Embedder) -> None:
    """Its vectors are the embedder's."""
    keys = [VersionKey(one.document_id, one.number) for one in store.versions() if one.searchable]
    for one in store.fetch(keys):
        wanted = embedder.embed_passages([item.entry.text for item in one.entries])
        assert np.allclose(one.vectors, wanted, atol=1e-5)


def files_with(folder: Path, needle: bytes) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and needle in file.read_bytes()]


def test_token_vectors_come_and_go_by_a_migration(tmp_path: Path) -> None:
    text = "The fee is 40 euros."
    with Index.create(tmp_path / "index") as index:
        index.add_documents([from_text(text, source="bank:fee")])
        assert "maxsim" in index.search("fee")[0].lists
    for kept in (False, True):
        with Index.open(tmp_path / "index", settings=Settings(storage=Storage(token_vectors=kept))) as index:
            done = index.migrate()
            assert done.carried is not None
            assert ("maxsim" in index.search("fee")[0].lists) is kept
            assert index.migrate().carried is None, "it is so already"


def test_everything_is_carried_and_only_the_vectors_are_new(path: Path, home: FolderHome) -> None:
    told: list[Progress] = []
    before = home.open(1)
    done = migrated(home, on_progress=told.append)
    assert (done.generation, done.previous, done.models) == (2, 1, SHORT)
    assert (done.embedder.dimensions, done.warnings, done.comparison) == (128, (), None)
    assert done.carried is not None
    assert (done.carried.put, done.carried.dropped) == (len(before.versions()), 0)
    assert done.carried.embedded == len(texts_of(before)) == told[-1].embedded
    assert (told[-1].files_done, told[-1].files_total) == (5, 5)

    assert home.pointer() == replace(home.pointer(), current=2, previous=1)
    assert [(one.generation, one.kept) for one in beside(home)] == [(1, True)]
    assert home.generations() == [1, 2]
    after = home.open(2)
    assert synchronise.changes(before, after) == []
    assert_is_of(after, configured.embedder(SHORT))
    assert_is_of(before, configured.embedder(LONG))

    with opened(path, SHORT) as index:
        assert index.ask(QUESTION).text.startswith(RULE)
        past = [hit.chunk.text for hit in index.search(QUESTION, as_of=date(2025, 6, 1))]
        assert any("90 days" in text for text in past)
        assert not any("90 days" in hit.chunk.text for hit in index.search(QUESTION))
        assert all(VAULT not in hit.chunk.text for hit in index.search("code word vault"))
        board = Principal(groups=frozenset({"board"}))
        assert VAULT in index.search("code word vault", principal=board)[0].chunk.text
        assert [one.title for one in index.documents(where=Equal("kind", "notice"))] == ["hours"]
        assert index.status().generation == 2


def test_the_next_run_finds_everything_unchanged(path: Path, home: FolderHome) -> None:
    migrated(home)
    with opened(path, SHORT) as index:
        report = index.add_documents([document("policy", RULE, valid_from=date(2026, 1, 1)), document("copy", RULE)])
    assert {file.state for file in report.files} == {FileState.UNCHANGED}
    assert report.embedded == 0


def test_the_old_embedder_is_refused_and_the_new_one_named(path: Path, home: FolderHome) -> None:
    held = home_of(path).open(1).reader()
    with opened(path, LONG) as reader:
        reader.search(QUESTION)
        migrated(home)
        # What is under way goes on with its state.
        vector = configured.embedder(LONG).embed_queries([QUESTION])[0]
        assert len(held.dense(vector, 9, OWNER)) == 4
        assert len(held.documents(OWNER)) == 4
        # A process that had it open sees the switch at its next call.
        with pytest.raises(FingerprintMismatch, match=r"dimensions = 128.*citewell migrate --embedder"):
            reader.search(QUESTION)


def test_a_deleted_version_can_be_brought_back_after_it(path: Path, home: FolderHome) -> None:
    migrated(home)
    with opened(path, SHORT) as index:
        index.rollback("bank:gone")
        assert "Cheques" in index.search("Are cheques accepted?")[0].chunk.text


def test_it_goes_on_where_it_was_stopped_and_with_what_was_committed_since(path: Path, home: FolderHome) -> None:
    def stop(progress: Progress) -> None:
        if progress.files_done == 2:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synchronise, "COMMIT_ENTRIES", 1)
        with pytest.raises(KeyboardInterrupt):
            migrated(home, on_progress=stop)
    assert home.pointer().current == 1
    begun = texts_of(home.open(2))
    there = len(home.open(2).versions())
    assert beside(home) == [Beside(2, False, "all-MiniLM-L6-v2-int8", there, home.bytes_on_disk(2))]

    with opened(path, LONG) as index:
        index.delete("bank:vault")
        index.add_documents([document("new", "A new branch opens in May.")])
    done = migrated(home)
    assert done.carried is not None
    assert done.carried.embedded == len(texts_of(home.open(1)) - begun)
    assert home.pointer().current == 2
    assert synchronise.changes(home.open(1), home.open(2)) == []
    assert files_with(path / "generations" / "2", b"A new branch")


def test_an_embedder_that_made_it_already_changes_nothing(home: FolderHome) -> None:
    before = home.pointer()
    done = migrated(home, LONG)
    assert (done.generation, done.previous, done.carried) == (1, None, None)
    assert home.pointer() == before


def test_only_the_generation_before_is_kept(home: FolderHome) -> None:
    migrated(home, SHORT)
    migrated(home, Models(threads=1, dimensions=64))
    assert (home.pointer().current, home.pointer().previous, home.generations()) == (3, 2, [2, 3])


def test_moving_back_by_name_goes_on_with_the_generation_that_was_kept(home: FolderHome) -> None:
    migrated(home, SHORT)
    done = migrated(home, LONG)
    assert done.carried == synchronise.Synchronised()
    assert (done.generation, done.previous) == (1, 2)


def test_a_generation_whose_making_or_removal_died_is_passed_over_and_removed(path: Path, home: FolderHome) -> None:
    home.build(2, home.open(1).made_with)
    (path / "generations" / "2" / "manifest.json").unlink()
    assert beside(home) == [Beside(2, kept=False, embedder="", versions=0, bytes_on_disk=home.bytes_on_disk(2))]
    done = migrated(home)
    assert done.generation == 3
    assert home.generations() == [1, 3]


def test_texts_that_are_longer_than_the_embedder_reads_are_counted(home: FolderHome) -> None:
    reads_little = ScriptedEmbedder("scripted", 16, max_tokens=62)
    done = migrate(home, Encoders(reads_little), SHORT)
    assert done.carried is not None
    longer = [text for text in texts_of(home.open(2)) if len(text) > 60]
    assert done.carried.too_long == len(longer) > 0
    assert (
        f"{len(longer)} of the {done.carried.embedded} texts embedded are longer than the 60 tokens" in done.warnings[0]
    )


# The gate


def gate(high: float) -> Any:
    def compare(before: Searched, after: Searched) -> Comparison:
        assert before.encoders.embedder.identity.dimensions == 384
        assert after.encoders.embedder.identity.dimensions == 128
        assert before.reader.counts(OWNER) == after.reader.counts(OWNER)
        return Comparison(40, (Measure("recall@5", 0.9, 0.8, -0.1, -0.2, high), Measure("MRR@10", 0.5, 0.5, 0, 0, 0)))

    return compare


def test_a_generation_that_finds_less_is_refused_and_kept(home: FolderHome) -> None:
    with pytest.raises(Refused) as caught:
        migrated(home, gate=gate(high=-0.01))
    assert caught.value.exit_code == 3
    assert "On the 40 questions" in caught.value.message
    assert "recall@5 0.900 to 0.800 (-0.100, 95 % interval -0.200 to -0.010); MRR@10 0.500" in caught.value.message
    assert home.pointer().current == 1
    done = migrated(home)
    assert done.generation == 2
    assert done.carried == synchronise.Synchronised()


def test_a_difference_within_the_noise_is_no_reason_to_refuse(home: FolderHome) -> None:
    done = migrated(home, gate=gate(high=0.0))
    assert done.generation == 2
    assert done.comparison is not None
    assert done.comparison.questions == 40


def test_a_gate_needs_the_embedder_of_the_index_before_anything_is_embedded(home: FolderHome) -> None:
    migrate(home, Encoders(ScriptedEmbedder("scripted", 16)), SHORT)
    with pytest.raises(SettingsError, match="no embedder 'scripted'"):
        migrated(home, gate=gate(high=0.0))
    assert home.generations() == [1, 2]


# Going back


def test_what_was_deleted_narrowed_renamed_or_added_since_stays_so(path: Path, home: FolderHome) -> None:
    migrated(home)
    with opened(path, SHORT) as index:
        index.delete("bank:vault")
        index.add_documents(
            [document("copy", RULE, groups=["board"]), document("new", "A new branch opens in May in Southmoor.")]
        )
    done = roll_back(home, SHORT)
    assert done.carried is not None
    assert done.carried.embedded == 1  # the new document alone
    assert (done.generation, done.previous) == (1, 2)
    assert done.models == LONG
    assert_is_of(home.open(1), configured.embedder(LONG))
    assert synchronise.changes(home.open(2), home.open(1)) == []
    with opened(path, LONG) as index:
        board = Principal(groups=frozenset({"board"}))
        assert [one.title for one in index.documents()] == ["hours", "new", "policy"]
        assert [one.title for one in index.documents(principal=board)] == ["copy", "hours", "new", "policy"]
        assert "Southmoor" in index.search("Which branch opens in May?")[0].chunk.text
    again = roll_back(home, LONG)
    assert (again.generation, again.models, again.carried) == (2, SHORT, synchronise.Synchronised())


def test_without_a_generation_before_there_is_no_way_back(home: FolderHome) -> None:
    with pytest.raises(UsageError, match="keeps no generation to go back to"):
        roll_back(home, LONG)


def test_an_embedder_is_made_from_what_was_recorded_of_it(tmp_path: Path) -> None:
    folder = minilm_in(tmp_path / "model")
    prefixed = Models(
        embedder=f"onnx:{folder}",
        threads=1,
        query_prefix="query: ",
        passage_prefix="passage: ",
        embedder_max_tokens=200,
        pooling="cls",
        dimensions=100,
    )
    embedder = configured.embedder(prefixed)
    from citewell.models.fingerprint import canaries

    made_with = MadeWith(embedder.identity, canaries(embedder), "1")
    named, again = recorded(made_with, Models(threads=1, llm="openai:x"))
    assert named == prefixed.model_copy(update={"llm": "openai:x"})
    assert again.identity == embedder.identity

    (folder / "model.onnx").unlink()
    with pytest.raises(SettingsError, match=r"no model\.onnx"):
        recorded(made_with, Models())


def test_an_embedder_that_is_not_what_it_was_is_refused(home: FolderHome) -> None:
    made_with = home.open(1).made_with
    turned = tuple(tuple(-value for value in row) for row in made_with.canaries)
    with pytest.raises(FingerprintMismatch):
        recorded(replace(made_with, canaries=turned), LONG)


def test_an_embedder_of_no_kind_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match=r"no embedder 'gpt'.*onnx:FOLDER"):
        with_embedder(LONG, "gpt")
    assert with_embedder(SHORT, "openai:x") == SHORT.model_copy(update={"embedder": "openai:x"})


# Others


def test_nobody_else_writes_meanwhile_and_readers_go_on(path: Path, home: FolderHome) -> None:
    seen = []

    def look(progress: Progress) -> None:
        with opened(path, LONG) as other:
            assert other.search(QUESTION)
            with pytest.raises(IndexLocked, match=f"process {os.getpid()} on"):
                other.add_documents([document("new", "x")])
            with pytest.raises(IndexLocked, match=f"process {os.getpid()} on"):
                migrated(home_of(path))
        seen.append(progress)

    migrated(home, on_progress=look)
    assert seen


def test_what_is_purged_is_in_no_generation(path: Path, home: FolderHome) -> None:
    migrated(home)

    def stop(progress: Progress) -> None:
        if progress.files_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrated(home, Models(threads=1, dimensions=64), on_progress=stop)
    for number in (1, 2, 3):
        assert files_with(path / "generations" / str(number), b"Meadow")
    assert [store.made_with.embedder.dimensions for store in stores_beside(home)] == [384, 64]

    with opened(path, SHORT) as index:
        assert index.purge("bank:vault").purged
    assert files_with(path, b"Meadow") == []
    roll_back(home, SHORT)
    migrated(home, Models(threads=1, dimensions=64))
    assert files_with(path, b"Meadow") == []
    with opened(path, Models(threads=1, dimensions=64)) as index:
        assert index.search(QUESTION)


@pytest.mark.parametrize("generation", [1, 2])
def test_a_purge_that_died_is_not_begun_or_is_ended_in_every_generation(
    path: Path, home: FolderHome, generation: int
) -> None:
    migrated(home)
    honest = lance_writing.erase

    def die(tables: lance_writing.Tables) -> None:
        if f"/generations/{generation}/" in str(lance_writing._place(tables["documents"])):
            raise ScriptedDeath
        honest(tables)

    with opened(path, SHORT) as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lance_writing, "erase", die)
        with pytest.raises(ScriptedDeath):
            index.purge("bank:vault")
        # That which is kept comes first: until the index itself has dropped it, nothing is purged.
        there = {one.source for one in index.documents(principal=BOARD)}
        assert ("bank:vault" in there) is (generation == 1)
    assert erasing(home).keys() == {generation}
    migrated(home, Models(threads=1, dimensions=64))
    assert erasing(home) == {}
    assert bool(files_with(path, b"Meadow")) is (generation == 1)
    with opened(path, Models(threads=1, dimensions=64)) as index:
        if generation == 1:
            assert index.purge("bank:vault").purged
        assert files_with(path, b"Meadow") == []
        assert index.search(QUESTION)


def test_any_run_ends_a_purge_that_died_in_a_generation_beside_and_its_repetition_has_a_receipt(
    path: Path, home: FolderHome
) -> None:
    migrated(home)

    def die(tables: lance_writing.Tables) -> None:
        raise ScriptedDeath

    with opened(path, SHORT) as index:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lance_writing, "erase", die)
            with pytest.raises(ScriptedDeath):
                index.purge("bank:vault")
        assert erasing(home).keys() == {1}
        index.add_documents([document("new", "Something else.")])
        assert erasing(home) == {}
        assert files_with(path / "generations" / "1", b"Meadow") == []
        assert index.purge("bank:vault").purged
        assert files_with(path, b"Meadow") == []


class ScriptedDeath(Exception):
    """Stands for the death of the writer at the point where it is raised."""


def test_what_is_no_store_any_more_is_not_purged_but_removed(path: Path, home: FolderHome) -> None:
    migrated(home)
    home.build(3, home.open(1).made_with)
    (path / "generations" / "3" / "manifest.json").unlink()
    with home.writing():
        assert stores_beside(home) == [home.open(1)]
    assert home.generations() == [1, 2]


def test_tidy_removes_what_was_left_unfinished(home: FolderHome) -> None:
    migrated(home)
    home.build(7, home.open(1).made_with)
    assert tidy(home) == [7]
    assert tidy(home) == []
    assert home.generations() == [1, 2]


def test_sparse_vectors_come_change_and_go_by_a_migration(tmp_path: Path) -> None:
    """With a gate and without, and back again."""
    words, draws = ("fee", "is", "40", "euros", "the"), np.random.default_rng(5)
    table = draws.standard_normal((len(SPECIAL) + len(words), 4)).astype(np.float32)
    decoder = draws.standard_normal((4, len(SPECIAL) + len(words))).astype(np.float32)
    one = masked_lm_in(tmp_path / "one", words, table, decoder)
    other = masked_lm_in(tmp_path / "other", words, table, decoder * np.float32(2))
    place = tmp_path / "index"
    with Index.create(place) as index:
        index.add_documents([from_text("the fee is 40 euros", source="bank:fee")])

    def searched(before: Searched, after: Searched) -> Comparison:
        sparse = Retrieval(legs=("sparse",))
        found = [
            search(Query("fee"), 3, OWNER, store=each.reader, encoders=each.encoders, settings=sparse, trace=Trace())
            for each in (before, after)
        ]
        assert (found[0] == ()) is (before.encoders.sparse is None), "an encoder that differs is not searched with"
        return Comparison(1, ())

    for folder in (one, other):
        tree = Settings.model_validate({"models": {"sparse": f"onnx:{folder}"}, "retrieval": {"legs": ["sparse"]}})
        with Index.open(place, settings=tree) as index:
            with pytest.raises(FingerprintMismatch, match="citewell migrate"):
                index.search("fee")
            assert index.migrate(gate=searched).carried is not None
            assert index.search("the fee")[0].lists == {"sparse": 1, "maxsim": 1}
    with Index.open(place) as plain:
        assert plain.migrate(gate=searched).carried is not None
        assert plain._store.made_with.sparse == ""
    with Index.open(place, settings=tree) as index:
        index.migrate_back()
        assert index.search("the fee")[0].lists == {"sparse": 1, "maxsim": 1}
