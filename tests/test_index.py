"""Both pipelines on real files: what is added, kept, refreshed, removed, found, answered and refused."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import citewell
from citewell import Index, Principal, Settings
from citewell.errors import IndexLocked, PathError, QuestionError, SettingsError, UnknownId
from citewell.loading.given import from_text
from citewell.types import FileState, IndexReport

RULE = "A customer may dispute a card payment within 120 days of the transaction date."
DISPUTES = f"# Disputes\n\n## Time limits\n\n{RULE}\n"
HOURS = "# Branch hours\n\nThe branch in Northmoor is open from nine to five on weekdays and closed on Sundays.\n"
VAULT = "# Code word\n\nThe code word for the vault of the head office is Meadow.\n"
QUESTION = "How many days does a customer have to dispute a card payment?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    (folder / "secret").mkdir(parents=True)
    (folder / "disputes.md").write_text(DISPUTES, encoding="utf-8")
    (folder / "hours.md").write_text(HOURS, encoding="utf-8")
    (folder / "secret" / "vault.md").write_text(VAULT, encoding="utf-8")
    grant(folder, "board")
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index") as index:
        yield index


def grant(folder: Path, group: str) -> None:
    rule = f'[[rule]]\nmatch = "secret/**"\ngroups = ["{group}"]\n'
    (folder / "citewell-access.toml").write_text(rule, encoding="utf-8")


def states(report: IndexReport) -> dict[str, FileState]:
    return {file.source.rpartition("/")[2]: file.state for file in report.files}


def test_an_answer_quotes_its_source(index: Index, folder: Path) -> None:
    index.add(folder)
    answer = index.ask(QUESTION)
    assert answer.text == f"{RULE} [1]"
    citation = answer.citations[0]
    document = index.show(citation.document_id)
    assert isinstance(document, citewell.Document)
    assert document.text[citation.start : citation.end] == citation.quote
    assert citation.section == "Disputes > Time limits"
    assert [step.name for step in answer.trace] == [
        *("queries", "embed", "dense", "keyword", "fuse", "maxsim", "gather", "floor", "answer")
    ]
    assert answer.searched == (QUESTION,)


def test_nothing_near_enough_is_an_abstention(index: Index, folder: Path) -> None:
    assert index.ask(QUESTION).abstained
    index.add(folder)
    answer = index.ask("How is a sourdough starter fed?")
    assert answer.abstained
    assert answer.reason
    assert [*answer.citations, *answer.sentences, *answer.hits] == []


def test_a_second_run_does_nothing(index: Index, folder: Path) -> None:
    assert set(states(index.add(folder)).values()) == {FileState.ADDED}
    again = index.add(folder)
    assert set(states(again).values()) == {FileState.UNCHANGED}
    assert again.embedded == 0


def test_a_changed_file_replaces_its_old_text(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "disputes.md").write_text(DISPUTES.replace("120", "90"), encoding="utf-8")
    report = index.add(folder)
    assert states(report)["disputes.md"] is FileState.UPDATED
    assert report.embedded == 1
    assert "90 days" in index.ask(QUESTION).text
    assert not any("120" in hit.chunk.text for hit in index.search("120 days dispute", k=50))


def test_a_vanished_file_is_removed_and_other_folders_stay(index: Index, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.md").write_text("# Note\n\nAnother folder.\n", encoding="utf-8")
    index.add(folder, other)
    (folder / "disputes.md").unlink()
    assert states(index.add(folder))["disputes.md"] is FileState.REMOVED
    assert {document.source.rpartition("/")[2] for document in index.documents()} == {"hours.md", "note.md"}
    assert index.ask(QUESTION).abstained


def test_an_emptied_folder_empties_the_index_and_what_went_can_be_brought_back(index: Index, folder: Path) -> None:
    index.add(folder)
    sources = [document.source for document in index.documents()]
    for file in folder.rglob("*.md"):
        file.unlink()
    report = index.add(folder)
    assert {file.state for file in report.files} == {FileState.REMOVED}
    assert index.status().documents == 0
    for source in sources:
        index.rollback(source)
    assert "120 days" in index.ask(QUESTION).text
    # Nobody misses the file of what was brought back.
    assert index.add(folder).files == ()
    (folder / "empty").mkdir()
    with pytest.raises(PathError, match="nothing to index"):
        index.add(folder / "empty")


def test_a_file_that_breaks_keeps_its_stored_version(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "disputes.md").write_bytes(b"\x00\x01\x02\xff" * 100)
    report = index.add(folder)
    assert states(report)["disputes.md"] is FileState.FAILED
    assert report.failed[0].reason
    assert "120 days" in index.ask(QUESTION).text


def test_rights_are_filtered_and_what_is_hidden_looks_like_nothing(index: Index, folder: Path) -> None:
    index.add(folder)
    question, board = "What is the code word for the vault?", Principal(groups=frozenset({"board"}))
    assert "Meadow" in index.ask(question, principal=board).text
    answer = index.ask(question)
    assert answer.abstained
    hidden = next(hit.chunk for hit in index.search(question, principal=board) if "Meadow" in hit.chunk.text)
    assert all(hit.chunk.id != hidden.id for hit in index.search(question, k=50))
    assert index.chunks(hidden.document_id) == ()
    for name in (hidden.document_id, hidden.id, hidden.source):
        with pytest.raises(UnknownId) as refused:
            index.show(name)
        with pytest.raises(UnknownId) as missing:
            index.show(name + "x")
        assert str(missing.value) == str(refused.value).replace(name, name + "x")


def test_changed_rights_are_taken_in_without_embedding(index: Index, folder: Path) -> None:
    index.add(folder)
    grant(folder, "auditors")
    report = index.add(folder)
    assert report.embedded == 0
    assert states(report) == {
        "disputes.md": FileState.UNCHANGED,
        "hours.md": FileState.UNCHANGED,
        "vault.md": FileState.UPDATED,
    }
    question = "What is the code word for the vault?"
    assert index.ask(question, principal=Principal(groups=frozenset({"board"}))).abstained
    assert "Meadow" in index.ask(question, principal=Principal(groups=frozenset({"auditors"}))).text


def test_opened_documents_and_rules_without_a_match_are_told(index: Index, folder: Path) -> None:
    assert index.add(folder).warnings == ()
    rules = folder / "citewell-access.toml"
    rules.write_text(rules.read_text().replace("secret/**", "Secret/**"), encoding="utf-8")
    report = index.add(folder)
    assert len(report.warnings) == 1
    assert f'{rules}: the rule for "Secret/**" matches no file' in report.warnings[0]
    vault = next(file for file in report.files if file.source.endswith("vault.md"))
    assert vault.warnings == ("It is now readable by everyone; it was by board.",)


def test_a_code_in_prose_is_answered(index: Index, folder: Path) -> None:
    claims = "Claims for travel are paid within a week. Claims later than 90 days are refused (error code EX-409)."
    (folder / "expenses.md").write_text(f"# Expenses\n\n{claims}\n", encoding="utf-8")
    index.add(folder)
    for question in ("What does EX-409 mean?", "EX-409", "ex 409", "What does error code EX409 mean?"):
        assert index.ask(question).text == "Claims later than 90 days are refused (error code EX-409). [1]"
    assert index.ask("What does EX-410 mean?").abstained


def test_rights_hold_at_once_even_where_the_file_cannot_be_read_any_more(index: Index, folder: Path) -> None:
    index.add(folder)
    grant(folder, "auditors")
    (folder / "secret" / "vault.md").write_bytes(b"\x00\xff" * 500)
    report = index.add(folder)
    assert states(report)["vault.md"] is FileState.FAILED
    question = "What is the code word for the vault?"
    assert index.ask(question, principal=Principal(groups=frozenset({"board"}))).abstained
    assert "Meadow" in index.ask(question, principal=Principal(groups=frozenset({"auditors"}))).text
    assert index.add(folder).embedded == 0


def test_a_wrong_access_file_stops_the_run_before_anything_is_indexed(index: Index, folder: Path) -> None:
    (folder / "secret" / "citewell-access.toml").write_text('[[rule]]\nmatch = "*"\ngroup = ["x"]\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="group is not known"):
        index.add(folder)
    assert index.status().documents == 0


@pytest.mark.parametrize("day", ["2025-06-30", datetime(2025, 6, 30, tzinfo=UTC)])
def test_a_day_and_a_principal_of_another_type_are_named(index: Index, day: Any) -> None:
    board: Any = "board"
    calls: list[Callable[..., object]] = [index.documents]
    calls += [partial(index.ask, "x"), partial(index.search, "x"), partial(index.show, "x"), partial(index.chunks, "x")]
    for call in calls:
        with pytest.raises(TypeError, match=r"a day must be a datetime\.date, not "):
            call(as_of=day)
        with pytest.raises(TypeError, match=r"principal must be a citewell\.Principal, not 'board'"):
            call(principal=board)


def test_one_text_under_two_names_has_each_its_rights(index: Index, folder: Path) -> None:
    (folder / "copy.md").write_text(VAULT, encoding="utf-8")
    report = index.add(folder)
    assert report.embedded == 3
    hits = index.search("code word of the vault", k=50)
    assert [hit.chunk.source.rpartition("/")[2] for hit in hits if "Meadow" in hit.chunk.text] == ["copy.md"]


def test_what_is_in_force_on_the_day(index: Index) -> None:
    old = from_text(
        "The dispute period is 90 days.", source="rule:2025", valid_from=date(2025, 1, 1), valid_to=date(2025, 12, 31)
    )
    new = from_text("The dispute period is 120 days.", source="rule:2026", valid_from=date(2026, 1, 1))
    index.add_documents([old, new])
    assert "120" in index.ask("How long is the dispute period?").text
    assert "90" in index.ask("How long is the dispute period?", as_of=date(2025, 12, 31)).text
    assert index.ask("How long is the dispute period?", as_of=date(2024, 12, 31)).abstained


def test_delete_by_path_id_or_source(index: Index, folder: Path) -> None:
    index.add(folder)
    receipt = index.delete(str(folder / "disputes.md"))
    assert [removed.source for removed in receipt.removed] == [(folder / "disputes.md").as_uri()]
    assert index.ask(QUESTION).abstained
    hours = next(document for document in index.documents() if document.source.endswith("hours.md"))
    index.delete(hours.id)
    with pytest.raises(UnknownId):
        index.delete(hours.source)


@pytest.mark.parametrize("question", ["", " \n\t", "\x00", "x" * 100_000])
def test_an_empty_or_endless_question_is_refused(index: Index, question: str) -> None:
    with pytest.raises(QuestionError):
        index.ask(question)
    with pytest.raises(QuestionError):
        index.search(question)


@pytest.mark.parametrize("question", ["?!", "the", "' OR 1=1 --", '"unclosed AND (', "R-17\u202e", "😀" * 50, "\ud800"])
def test_odd_questions_find_something_or_nothing_and_never_fail(index: Index, folder: Path, question: str) -> None:
    index.add(folder)
    assert len(index.search(question, k=10)) <= 2
    index.ask(question)


def test_a_second_writer_is_told_who_holds_the_index(index: Index, folder: Path) -> None:
    with index._store.writing():  # the lock that `add` takes
        code = f"import citewell; citewell.Index.open({index.location!r}).add({str(folder)!r})"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert IndexLocked.__name__ in other.stderr
    assert index.status().documents == 0


def test_async_twins_do_the_same(index: Index, folder: Path) -> None:
    async def run() -> tuple[int, str, str]:
        report = await index.aadd(folder)
        hits, answer = await asyncio.gather(index.asearch("dispute"), index.aask(QUESTION))
        return len(report.files), hits[0].chunk.text, answer.text

    files, found, text = asyncio.run(run())
    assert files == 3
    assert "120 days" in found
    assert text == index.ask(QUESTION).text


def test_progress_ends_at_the_last_file(index: Index, folder: Path) -> None:
    seen: list[tuple[int, int, int]] = []
    index.add(folder, on_progress=lambda now: seen.append((now.files_done, now.files_total, now.embedded)))
    assert seen[-1] == (3, 3, 3)
    assert seen == sorted(seen)


def test_one_leg_keeps_its_own_scale(tmp_path: Path, folder: Path) -> None:
    with Index.create(tmp_path / "one") as made:
        made.add(folder)
    for leg, scale in (("dense", "cosine"), ("keyword", "bm25")):
        settings = Settings.model_validate({"retrieval": {"legs": [leg], "rerank": False}})
        with Index.open(tmp_path / "one", settings=settings) as index:
            hit = index.search("dispute period in days")[0]
            assert (hit.scale, list(hit.lists)) == (scale, [leg])


def test_the_public_names_are_there() -> None:
    assert sorted(citewell.__all__) == [name for name in dir(citewell) if not name.startswith("_")]
    for name in citewell.__all__:
        assert getattr(citewell, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Idnex'"):
        _ = citewell.Idnex


def test_importing_citewell_loads_nothing_heavy() -> None:
    code = "import sys, citewell; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "lancedb", "pydantic", "onnxruntime", "pyarrow"}.intersection(loaded)


def test_uploads_of_the_service_below_a_folder_are_not_taken_for_vanished(index: Index, folder: Path) -> None:
    state = folder / "service"
    upload = state / "uploads" / "ann" / "plan.md"
    upload.parent.mkdir(parents=True)
    (state / "service.sqlite3").touch()
    (state / "audit.jsonl").write_text('{"asked": "How do I report my manager?"}', encoding="utf-8")
    upload.write_text("# Plan\n\nThe vault moves to Northmoor in May.\n", encoding="utf-8")
    index.add(upload)
    report = index.add(folder)
    assert upload.as_uri() not in states(report)
    assert not any("audit" in source for source in states(report))
    assert "Northmoor" in index.ask("Where does the vault move?").text
    upload.unlink()
    index.add(folder)
    assert "Northmoor" in index.ask("Where does the vault move?").text, "the service takes away what it added"
