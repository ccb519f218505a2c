"""`doctor`: every check as data, each fault that it is there to find, and what `--fix` mends."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell import clock
from citewell.diagnosis import advice, installation, place
from citewell.diagnosis.findings import Finding, Severity
from citewell.models.embedder import Embedded
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking, Models, Retrieval, Settings, Storage
from citewell.stores import lance_writing
from citewell.stores.folder import FolderHome
from citewell.stores.lance import LanceStore
from citewell.stores.lance_rows import CHUNKS, ENTRIES
from citewell.stores.postgres.home import PostgresHome
from citewell.stores.store import OWNER, IndexedDocument, MadeWith, VersionKey
from citewell.types import Removed
from tests.cli.conftest import Run, another_writer
from tests.models.onnx_folders import SPECIAL, masked_lm_in
from tests.stores.postgres_engine import made_older, server

OF_THE_INSTALLATION = ["versions", "settings", "plugins", "secrets", "model", "embedder", "reading"]
OF_THE_INDEX = [
    "index", "generations", "purges", "run", "files", "rows", "indexes", "engine", "history", "days", "fields",
    "loaded", "applied", "analyser", "searching", "writing", "fingerprint", "leftovers", "disk",
]  # fmt: skip


class ScriptedDeath(Exception):
    """Stands for the death of the writer at the point where it is raised."""


@pytest.fixture
def index(bank: Path, tmp_path: Path) -> Path:
    """A copy of the bank's index, to be damaged."""
    return Path(shutil.copytree(bank / ".citewell", tmp_path / "x"))


def generation(index: Path) -> Path:
    return index / "generations" / "1"


def store_of(index: Path) -> LanceStore:
    return LanceStore.open(generation(index), Storage())


def encoder_in(folder: Path, seed: int) -> Path:
    """A sparse encoder of a few words, which has learned nothing."""
    words, draws = ("invoice", "thirty", "days", "card", "payment"), np.random.default_rng(seed)
    table = draws.standard_normal((len(SPECIAL) + len(words), 4)).astype(np.float32)
    return masked_lm_in(folder, words, table, np.ascontiguousarray(table.T))


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_manifest(index: Path, **changes: object) -> None:
    edit(generation(index) / "manifest.json", **changes)


def edit_made_with(index: Path, **changes: object) -> None:
    made_with = json.loads((generation(index) / "manifest.json").read_text())["made_with"]
    edit_manifest(index, made_with=made_with | changes)


def findings(run: Run, *arguments: str | Path) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code, and what each check that is not content found."""
    ran = run("doctor", *arguments, "--json")
    bad: dict[str, list[dict[str, Any]]] = {}
    for check in ran.json["checks"]:
        if check["severity"] != "ok":
            assert check["remedy"], check
            bad.setdefault(check["name"], []).append(check)
    return ran.code, bad


def only(run: Run, name: str, index: Path) -> tuple[int, dict[str, Any]]:
    """The one thing that is wrong with an index, as the check of that name says."""
    code, bad = findings(run, "--index", index)
    assert list(bad) == [name], bad
    (found,) = bad[name]
    return code, found


def fixed(run: Run, index: Path) -> list[str]:
    """What `--fix` says that it did; all is well afterwards, and every document is still there."""
    before = [document.id for document in store_of(index).reader().documents(OWNER)] if opens(index) else None
    ran = run("doctor", "--fix", "--index", index, "--json")
    assert ran.code == 0
    assert {check["severity"] for check in ran.json["checks"]} == {"ok"}, ran.out
    assert before in (None, [document.id for document in store_of(index).reader().documents(OWNER)])
    done: list[str] = ran.json["fixed"]
    return done


def opens(index: Path) -> bool:
    with suppress(Exception):
        store_of(index).reader().documents(OWNER)
        return True
    return False


def changed(index: Path, change: Callable[[IndexedDocument], IndexedDocument]) -> None:
    """Store the first document changed, as no run of ours would."""
    store = store_of(index)
    first = store.versions()[0]
    (stored,) = store.fetch([VersionKey(first.document_id, first.number)])
    with store.writing():
        store.commit([change(stored)])


def test_a_sound_index_passes_every_check(bank: Path, citewell: Run) -> None:
    ran = citewell("doctor", "--json")
    assert ran.code == 0, ran.out
    assert list(ran.json) == ["version", "healthy", "fixed", "checks"]
    assert (ran.json["version"], ran.json["healthy"], ran.json["fixed"]) == (1, True, [])
    assert [check["name"] for check in ran.json["checks"]] == OF_THE_INSTALLATION + OF_THE_INDEX
    assert all(list(check) == ["name", "severity", "message", "remedy", "fixable"] for check in ran.json["checks"])
    assert {check["severity"] for check in ran.json["checks"]} == {"ok"}
    lines = citewell("doctor", "--fix").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["✓", name] for name in OF_THE_INSTALLATION + OF_THE_INDEX]


def test_without_an_index_the_installation_is_still_checked(tmp_path: Path, citewell: Run) -> None:
    ran = citewell("doctor", "--index", tmp_path / "x", "--json")
    assert (ran.code, ran.json["healthy"]) == (0, True)
    last = ran.json["checks"][-1]
    assert (last["name"], last["severity"]) == ("index", "warning")
    assert "citewell index" in last["remedy"]
    assert not (tmp_path / "x").exists()


# Damage


def test_another_format_is_an_error(index: Path, citewell: Run) -> None:
    edit(index / "index.json", format=99)
    code, check = only(citewell, "index", index)
    assert (code, check["severity"]) == (1, "error")
    assert "format 99" in check["message"]


def test_missing_tables_are_an_error(index: Path, citewell: Run) -> None:
    shutil.rmtree(generation(index) / "tables")
    code, check = only(citewell, "index", index)
    assert (code, check["severity"]) == (1, "error")
    assert "the folder is missing" in check["message"]
    assert "backup" in check["remedy"]


def test_rows_that_cannot_be_read_are_an_error_that_cannot_be_fixed(index: Path, citewell: Run) -> None:
    for path in (generation(index) / "tables" / "chunks.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    ran = citewell("doctor", "--index", index, "--fix", "--json")
    files = [check for check in ran.json["checks"] if check["name"] == "files"]
    assert (ran.code, [check["severity"] for check in files]) == (1, ["error"])
    assert files[0]["message"].startswith("chunks cannot be read: ")
    assert not any(check["fixable"] for check in files)


def test_rows_that_are_not_what_was_written_are_an_error(index: Path, citewell: Run) -> None:
    def altered(stored: IndexedDocument) -> IndexedDocument:
        item = stored.entries[0]
        entries = (replace(item, entry=replace(item.entry, text="something else")), *stored.entries[1:])
        return replace(stored, entries=entries)

    changed(index, altered)
    code, check = only(citewell, "files", index)
    assert (code, check["severity"]) == (1, "error")
    assert check["message"] == "entries: 1 rows are not what was written"


def test_a_damaged_index_is_built_anew(index: Path, citewell: Run) -> None:
    indexes = generation(index) / "tables" / "entries.lance" / "_indices"
    for path in indexes.rglob("*docs.lance"):
        path.write_bytes(path.read_bytes()[:50])
    code, check = only(citewell, "files", index)
    assert (code, check["severity"], check["fixable"]) == (1, "error", True)
    assert "the index of entries by tokens cannot be read" in check["message"]
    assert fixed(citewell, index) == ["wrote all tables and indexes anew"]
    assert citewell("search", "dispute a payment", "--index", index, "--json").json["hits"]


def test_parts_of_no_document_are_removed(index: Path, citewell: Run) -> None:
    store = store_of(index)
    first = store.versions()[0]
    counts = store.reader().counts(OWNER)
    tables = {name: store._connection.open_table(name) for name in store.manifest.tables}
    tables["documents"].delete(f"document_id = '{first.document_id}'")
    lost = len(store.fetch([VersionKey(first.document_id, first.number)])[0].chunks)
    versions = {name: table.version for name, table in tables.items()}
    edit_manifest(index, tables=versions, counts={**counts_record(counts), "documents": counts.documents - 1})
    code, bad = findings(citewell, "--index", index)
    assert code == 1
    assert bad["rows"][0]["message"] == f"{lost} chunks and {lost} entries belong to no document"
    removed = f"without {lost} {CHUNKS} of no document, without {lost} {ENTRIES} of no document"
    assert fixed(citewell, index) == [f"wrote all tables and indexes anew, {removed}"]
    assert store_of(index).reader().counts(OWNER).chunks == counts.chunks - lost


def counts_record(counts: object) -> dict[str, int]:
    return {name: getattr(counts, name) for name in ("documents", "chunks", "entries")}


def test_counts_that_disagree_with_the_manifest_are_counted_anew(index: Path, citewell: Run) -> None:
    edit_manifest(index, counts={"documents": 4, "chunks": 999, "entries": 999})
    code, check = only(citewell, "rows", index)
    assert (code, check["severity"]) == (1, "error")
    assert "the manifest says 4, 999, 999" in check["message"]
    fixed(citewell, index)


def test_a_document_without_entries_is_an_error(index: Path, citewell: Run) -> None:
    changed(index, lambda stored: replace(stored, entries=(), vectors=stored.vectors[:0]))
    code, check = only(citewell, "rows", index)
    assert (code, check["severity"], check["fixable"]) == (1, "error", False)
    assert "1 documents have no entries" in check["message"]


def test_of_two_current_versions_the_newest_stays(index: Path, citewell: Run) -> None:
    def renumbered(stored: IndexedDocument) -> IndexedDocument:
        document = replace(stored.document, number=2)
        chunks = tuple(replace(chunk, id=f"{chunk.id}-2") for chunk in stored.chunks)
        entries = tuple(
            replace(item, entry=replace(item.entry, id=f"{item.entry.id}-2", chunk_id=f"{item.entry.chunk_id}-2"))
            for item in stored.entries
        )
        return replace(stored, document=document, chunks=chunks, entries=entries)

    changed(index, renumbered)
    code, check = only(citewell, "history", index)
    assert (code, check["severity"], check["fixable"]) == (1, "error", True)
    ran = citewell("doctor", "--fix", "--index", index, "--json")
    assert (ran.code, ran.json["fixed"]) == (0, ["made 1 versions past ones that a newer had replaced"])
    (document_id,) = {one.document_id for one in store_of(index).versions() if one.number == 2}
    assert [one.current for one in store_of(index).versions([document_id])] == [False, True]


# What lags, and what is left over


def test_a_run_cut_short_is_settled_and_its_vectors_stay(index: Path, citewell: Run) -> None:
    store = store_of(index)
    with suppress(ScriptedDeath), store.writing():
        kept = store.fetch([VersionKey(one.document_id, one.number) for one in store.versions()[:1]])
        store.commit(kept)
        store.stash({"00" * 32: Embedded(kept[0].vectors[0])})
        store.stash_replies({"00" * 32: "one", "11" * 32: "two"})
        raise ScriptedDeath
    code, bad = findings(citewell, "--index", index)
    assert (code, {check["severity"] for check in bad["run"]}) == (0, {"warning"})
    assert "has left 1 vectors and 2 replies of a language model for" in bad["run"][1]["message"]
    assert bad["run"][1]["remedy"].endswith("Replies wait for 30 days after the last was added.")
    with another_writer(index) as pid:
        ran = citewell("doctor", "--index", index, "--json")
        (under_way,) = [check for check in ran.json["checks"] if check["name"] == "run"]
    assert (under_way["severity"], f"process {pid}" in under_way["message"]) == ("ok", True)
    done = citewell("doctor", "--fix", "--index", index, "--json").json["fixed"]
    assert done == ["built the indexes that were due, and settled the last run"]
    assert store_of(index).manifest.settled
    assert (store_of(index).stashed, store_of(index).stashed_replies) == (1, 2)


def test_an_index_that_is_due_is_built(index: Path, tmp_path: Path, citewell: Run) -> None:
    settings = tmp_path / "s.toml"
    settings.write_text("[storage]\nexact_up_to = 2\n")
    code, bad = findings(citewell, "--index", index, "--settings", settings)
    assert (code, list(bad)) == (0, ["indexes"])
    assert "indexes lag: vectors" in bad["indexes"][0]["message"]
    citewell("doctor", "--fix", "--index", index, "--settings", settings)
    assert findings(citewell, "--index", index, "--settings", settings) == (0, {})


def test_old_versions_are_cleaned_up(index: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.stores.lance_writing.MAX_OLD_VERSIONS", 2)
    monkeypatch.setattr("citewell.stores.lance_writing.KEPT", timedelta(0))
    code, check = only(citewell, "indexes", index)
    assert (code, check["severity"], check["fixable"]) == (0, "warning", True)
    monkeypatch.setattr("citewell.stores.lance_writing.MAX_OLD_VERSIONS", 20)
    before = sum(path.is_file() for path in index.rglob("*"))
    edit_manifest(index, counts={"documents": 4, "chunks": 999, "entries": 999})
    fixed(citewell, index)
    assert sum(path.is_file() for path in index.rglob("*")) < before


def test_an_unfinished_generation_is_removed_and_a_kept_one_stays(index: Path, citewell: Run) -> None:
    home = FolderHome(index, Storage())
    pointer, made_with = home.pointer(), home.open(1).made_with
    with home.writing():
        for number in (2, 3, 4):
            home.build(number, MadeWith(made_with.embedder, made_with.canaries, made_with.analyser))
        home.switch(replace(pointer, previous=2))
    (index / "generations" / "4" / "manifest.json").unlink()
    code, bad = findings(citewell, "--index", index)
    assert (code, [check["severity"] for check in bad["generations"]]) == (0, ["warning", "warning"])
    assert "begun with all-MiniLM-L6-v2-int8, 0 versions so far" in bad["generations"][0]["message"]
    assert "hardly begun" in bad["generations"][1]["message"]
    assert fixed(citewell, index) == ["removed generation 3, generation 4, unfinished"]
    assert FolderHome(index, Storage()).generations() == [1, 2]
    shown = citewell("doctor", "--index", index).out
    assert "generation 2 (all-MiniLM-L6-v2-int8, " in shown


def test_a_purge_that_was_cut_short_is_named_and_ended(index: Path, citewell: Run) -> None:
    store = store_of(index)
    first = store.versions()[0]
    with pytest.MonkeyPatch.context() as patch, suppress(ScriptedDeath), store.writing():
        patch.setattr(lance_writing, "erase", die)
        store.erase([Removed(first.document_id, first.source, (first.number,), {})])
    code, check = only(citewell, "purges", index)
    assert (code, check["severity"], check["fixable"]) == (0, "warning", True)
    assert f"a purge of 1 documents ({first.source}) was cut short" in check["message"]
    with another_writer(index) as pid:
        ran = citewell("doctor", "--index", index, "--json")
        (under_way,) = [check for check in ran.json["checks"] if check["name"] == "purges"]
    assert (under_way["severity"], f"process {pid}" in under_way["message"]) == ("ok", True)
    assert fixed(citewell, index) == ["removed the files of generation 1 that held what was purged"]
    assert store.erasing is None


def die(*_: object) -> None:
    raise ScriptedDeath


def test_what_is_left_over_is_removed(index: Path, citewell: Run) -> None:
    (index / "index.json.new").write_text("{")
    (generation(index) / "manifest.json.new").write_text("{")
    (generation(index) / "vectors" / "faiss").mkdir(parents=True)
    (generation(index) / "vectors" / "faiss" / "x.npy").write_bytes(b"a vector of what may be purged")
    code, check = only(citewell, "leftovers", index)
    assert (code, check["severity"], check["fixable"]) == (0, "warning", True)
    assert len(fixed(citewell, index)) == 3
    assert not list(index.rglob("*.new")) + list(index.rglob("faiss"))


def test_fix_is_refused_while_another_process_writes(index: Path, citewell: Run) -> None:
    (index / "index.json.new").write_text("{")
    with another_writer(index) as pid:
        ran = citewell("doctor", "--fix", "--index", index)
    assert ran.code == 3
    assert f"is being written to by process {pid} on " in ran.err
    assert (index / "index.json.new").exists()


# What does not agree with the settings


def test_what_is_kept_beyond_its_day_is_a_warning(index: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    source = store_of(index).versions()[0].source
    changed(index, lambda stored: replace(stored, document=replace(stored.document, expires=date(2020, 1, 1))))
    citewell("delete", store_of(index).versions()[-1].source, "--index", index)
    now = datetime.now(UTC) + timedelta(days=40)
    monkeypatch.setattr(clock, "now", lambda: now)
    code, bad = findings(citewell, "--index", index)
    assert (code, list(bad)) == (0, ["days"])
    expired, overdue = (check["message"] for check in bad["days"])
    assert expired == f"1 documents have expired and are withheld, not removed: {source}"
    assert overdue == "1 versions are kept for longer than the 30 days of the settings"


def test_fields_declared_otherwise_are_a_warning(index: Path, tmp_path: Path, citewell: Run) -> None:
    settings = tmp_path / "s.toml"
    settings.write_text('[metadata]\nfields = {department = "text"}\n')
    code, bad = findings(citewell, "--index", index, "--settings", settings)
    assert (code, list(bad)) == (0, ["fields"])
    assert "department" in bad["fields"][0]["message"]


def test_another_model_is_an_error(index: Path, citewell: Run) -> None:
    canaries = json.loads((generation(index) / "manifest.json").read_text())["made_with"]["canaries"]
    edit_made_with(index, canaries=[[-number for number in vector] for vector in canaries])
    code, check = only(citewell, "fingerprint", index)
    assert (code, check["severity"]) == (1, "error")


def test_a_sparse_encoder_that_is_missing_or_another_is_an_error(manuals: Path, tmp_path: Path, citewell: Run) -> None:
    one, other = (encoder_in(tmp_path / name, seed) for seed, name in enumerate(("one", "other")))
    place, named, otherwise, plain = (tmp_path / name for name in ("x", "named.toml", "otherwise.toml", "plain.toml"))
    named.write_text(f'[models]\nsparse = "onnx:{one}"\n')
    otherwise.write_text(f'[models]\nsparse = "onnx:{other}"\n')
    plain.touch()
    assert citewell("index", manuals, "--index", place, "--settings", named).code == 0

    ran = citewell("doctor", "--index", place, "--settings", named, "--json")
    told = {check["name"]: check["message"] for check in ran.json["checks"]}
    assert (ran.code, {check["severity"] for check in ran.json["checks"]}) == (0, {"ok"})
    assert re.fullmatch(r"splade:max:256:[0-9a-f]{16} finds \d words in a sentence", told["sparse"])
    recorded = told["sparse"].split()[0]
    assert told["fingerprint"] == f"its sparse vectors were made with {recorded}, which the settings name"

    for settings, now in ((otherwise, "splade:max:256:"), (plain, "none.")):
        code, bad = findings(citewell, "--index", place, "--settings", settings)
        assert (code, list(bad)) == (1, ["fingerprint"])
        (check,) = bad["fingerprint"]
        assert check["message"].startswith(f"The index was made with the sparse encoder {recorded}; ")
        assert f"that of the settings is {now}" in check["message"]
        assert check["remedy"].startswith("Set models.sparse as it was, or run `citewell migrate` ")
    assert citewell("migrate", "--index", place, "--settings", otherwise).code == 0
    assert findings(citewell, "--index", place, "--settings", otherwise) == (0, {})

    shutil.rmtree(other)
    code, bad = findings(citewell, "--index", place, "--settings", otherwise)
    assert (code, list(bad)) == (1, ["sparse"])
    (check,) = bad["sparse"]
    assert check["message"] == f"The sparse encoder's folder {other} has no model.onnx and no tokenizer.json."


def test_an_index_without_sparse_vectors_is_told_of_an_encoder(index: Path, tmp_path: Path, citewell: Run) -> None:
    settings = tmp_path / "s.toml"
    settings.write_text(f'[models]\nsparse = "onnx:{encoder_in(tmp_path / "one", 0)}"\n')
    code, bad = findings(citewell, "--index", index, "--settings", settings)
    assert (code, list(bad)) == (1, ["fingerprint"])
    assert bad["fingerprint"][0]["message"].startswith("The index was made without sparse vectors; that of the set")


def test_another_analyser_is_a_warning(index: Path, citewell: Run) -> None:
    edit_made_with(index, analyser="0")
    code, check = only(citewell, "analyser", index)
    assert (code, check["severity"]) == (0, "warning")


def test_a_writer_at_work_is_named(index: Path, citewell: Run) -> None:
    with another_writer(index) as pid:
        ran = citewell("doctor", "--index", index, "--json")
    (check,) = [check for check in ran.json["checks"] if check["name"] == "writing"]
    assert (ran.code, check["severity"]) == (0, "ok")
    assert f"is being written to by process {pid} on " in check["message"]


# The installation and the settings


def test_broken_settings_are_an_error(tmp_path: Path, citewell: Run) -> None:
    path = tmp_path / "s.toml"
    path.write_text("presett = 1\n")
    code, bad = findings(citewell, "--settings", path, "--index", tmp_path / "x")
    assert (code, list(bad)) == (1, ["settings"])
    assert "presett: unknown key" in bad["settings"][0]["message"]
    printed = citewell("doctor", "--settings", path, "--index", tmp_path / "x")
    assert printed.code == 1
    assert "✗  settings" in printed.out


def test_a_plugin_that_is_not_installed_is_an_error(tmp_path: Path, citewell: Run) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[loading]\nplugins = ["nowhere"]\n')
    code, bad = findings(citewell, "--settings", path, "--index", tmp_path / "x")
    assert (code, bad["plugins"][0]["severity"]) == (1, "error")
    assert "nowhere" in bad["plugins"][0]["message"]


def test_secrets_that_others_may_read_are_an_error(
    tmp_path: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secrets.toml"
    path.write_text('document_passwords = ["quokka"]\n')
    path.chmod(0o644)
    monkeypatch.setenv("CITEWELL_SECRETS", str(path))
    code, bad = findings(citewell, "--index", tmp_path / "x")
    assert (code, bad["secrets"][0]["severity"]) == (1, "error")
    path.chmod(0o600)
    ran = citewell("doctor", "--index", tmp_path / "x")
    assert (ran.code, "quokka" in ran.out) == (0, False)


def test_other_versions_than_the_pinned_ones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ["numpy==0.0.1", "no-such-package==1", 'x==1; extra == "dev"'])
    (found,) = installation.versions()
    assert found.severity is Severity.WARNING
    assert found.message == f"numpy {metadata.version('numpy')}, 0.0.1 wanted; no-such-package missing, 1 wanted"


def test_a_damaged_model_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "files", lambda _: tmp_path)
    assert list(installation.model_file()) == [Finding("model.onnx is missing", Severity.ERROR, installation.REINSTALL)]
    (tmp_path / "minilm").mkdir()
    (tmp_path / "minilm" / "model.onnx").write_bytes(b"cut off")
    (found,) = installation.model_file()
    assert "expected" in found.message
    assert found.severity is Severity.ERROR


def test_an_embedder_whose_vectors_are_not_of_length_1_is_an_error() -> None:
    class ScriptedLongVectors(MiniLM):
        def embed_passages(self, texts: Any) -> Any:
            return super().embed_passages(texts) * 2

    (found,) = installation.embedder(ScriptedLongVectors())
    assert found.severity is Severity.ERROR
    assert "lengths [2.0, 2.0]" in found.message


def test_slow_settings_are_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    slow = Settings(
        retrieval=Retrieval(candidates=5_000), models=Models(threads=1), chunking=Chunking(method="semantic")
    )
    found = list(advice.settings(slow))
    assert [one.severity for one in found] == [Severity.OK, *[Severity.WARNING] * 3]
    assert [one.message for one in advice.settings(Settings())] == ["preset balanced, language model none"]
    eager = Settings(storage=Storage(exact_up_to=500_000))
    assert [one.severity for one in advice.searching(eager, entries=50_000)] == [Severity.OK]
    (compared,) = advice.searching(eager, entries=400_000)
    assert (compared.severity, "400,000 vectors" in compared.message) == (Severity.WARNING, True)


def test_chunks_longer_than_the_embedder_reads_are_a_warning() -> None:
    (found,) = advice.reading(Chunking(size=400), MiniLM())
    assert found.severity is Severity.WARNING
    assert found.message.startswith("chunks have up to 400 tokens and all-MiniLM-L6-v2-int8 reads 254: ")
    assert [one.severity for one in advice.reading(Chunking(size=254), MiniLM())] == [Severity.OK]


def test_a_full_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "LEAST_FREE_BYTES", 10**18)
    assert [one.severity for one in place.disk(tmp_path, 0)] == [Severity.WARNING]


def test_a_network_file_system_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/a / ext4 rw 0 0\nserver:/b /srv nfs4 rw 0 0\n//c /srv/my\\040share cifs rw 0 0\n")
    text = mounts.read_text()
    assert place.file_system(Path("/home/x"), text) == "ext4"
    assert place.file_system(Path("/srv/index"), text) == "nfs4"
    assert place.file_system(Path("/srv/my share/index"), text) == "cifs"
    assert place.file_system(Path("/x"), "") == ""
    mounts.write_text(f"server:/b {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(place, "MOUNTS", mounts)
    assert any("network file system (nfs4)" in one.message for one in place.disk(tmp_path, 0))


# Other engines


def test_an_index_in_postgresql_is_checked_as_far_as_it_can_be(manuals: Path, citewell: Run) -> None:
    url = server().url("doctor")
    assert citewell("index", manuals, "--index", url).code == 0
    ran = citewell("doctor", "--index", url, "--json")
    assert ran.code == 0, ran.out
    of_folders = {"run", "files", "rows", "indexes", "leftovers", "disk"}
    names = [check["name"] for check in ran.json["checks"]]
    assert names == [name for name in OF_THE_INSTALLATION + OF_THE_INDEX if name not in of_folders]
    assert {check["severity"] for check in ran.json["checks"]} == {"ok"}


def test_tables_of_an_older_version_in_postgresql_are_brought_up_to_date(manuals: Path, citewell: Run) -> None:
    url = server().url("doctor_old")
    assert citewell("index", manuals, "--index", url).code == 0
    home = PostgresHome(url, Storage())
    made_older(home.open(1), 3)
    home.close()
    assert citewell("search", "battery", "--index", url).code != 0
    ran = citewell("doctor", "--index", url, "--json")
    (bad,) = [check for check in ran.json["checks"] if check["severity"] != "ok"]
    assert (ran.code, bad["name"], bad["fixable"]) == (1, "index", True)
    assert bad["message"] == "an older version of Citewell made the tables of generation 1"
    ran = citewell("doctor", "--fix", "--index", url, "--json")
    assert (ran.code, ran.json["fixed"]) == (0, ["brought the tables of generation 1 up to date"])
    assert citewell("search", "battery", "--index", url).code == 0


def test_an_upgrade_in_postgresql_that_was_cut_short_is_gone_on_with(manuals: Path, citewell: Run) -> None:
    url = server().url("doctor_half")
    assert citewell("index", manuals, "--index", url).code == 0
    home = PostgresHome(url, Storage())
    kept = home.build(2, home.open(1).made_with)
    with home.writing():
        home.switch(replace(home.pointer(), previous=2))
    made_older(kept, 3)
    home.close()
    assert citewell("search", "battery", "--index", url).code == 0
    code, bad = findings(citewell, "--index", url)
    assert (code, list(bad)) == (1, ["index"])
    (check,) = bad["index"]
    assert check["message"] == "an older version of Citewell made the tables of generation 2"
    ran = citewell("doctor", "--fix", "--index", url, "--json")
    assert (ran.code, ran.json["fixed"]) == (0, ["brought the tables of generation 2 up to date"])
    assert {one["severity"] for one in ran.json["checks"]} == {"ok"}


def test_a_vector_engine_that_is_behind_is_built_anew(index: Path, tmp_path: Path, citewell: Run) -> None:
    settings = tmp_path / "s.toml"
    settings.write_text('[storage]\nvectors = "faiss"\nexact_up_to = 0\n')
    code, bad = findings(citewell, "--index", index, "--settings", settings)
    assert (code, bad["engine"][0]["severity"], bad["engine"][0]["fixable"]) == (0, "warning", True)
    ran = citewell("doctor", "--fix", "--index", index, "--settings", settings, "--json")
    assert "built the vector engine anew" in ran.json["fixed"]
    assert findings(citewell, "--index", index, "--settings", settings) == (0, {})
    # Set back: what the engine holds would outlive a purge.
    code, check = only(citewell, "leftovers", index)
    assert "generations/1/vectors/faiss" in check["message"]
