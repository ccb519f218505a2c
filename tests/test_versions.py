"""Versions of real documents through the whole index: days in force, renames, going back, going away."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest

from citewell import Index, Principal, Settings
from citewell.errors import UnknownId, UsageError
from citewell.models.embedder import Vectors
from citewell.models.minilm import MiniLM
from citewell.stores import lance_writing
from citewell.stores.store import VersionKey
from citewell.types import Answer, Document, Ending, FileReport, FileState, IndexReport, Version
from tests.clock import at

QUESTION = "How many days does a customer have to dispute a payment?"
STAFF = Principal(groups=frozenset({"staff"}))
SETTINGS = Settings.model_validate({"metadata": {"fields": {"department": "text"}}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder / "policy.md", 60)
    (folder / "hours.md").write_text("# Branch hours\n\nBranches open at nine.\n", encoding="utf-8")
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index", settings=SETTINGS) as index:
        yield index


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every passage that goes through the real embedder; an answer's sentences, which it compares, have no title."""
    seen: list[str] = []
    honest, without_tokens = MiniLM.embed_passage_tokens, MiniLM.embed_passages

    def counting(self: MiniLM, texts: list[str]) -> tuple[Vectors, list[Vectors]]:
        seen.extend(texts)
        return honest(self, texts)

    def also_counting(self: MiniLM, texts: list[str]) -> Vectors:
        seen.extend(text for text in texts if "\n" in text)
        return without_tokens(self, texts)

    monkeypatch.setattr(MiniLM, "embed_passage_tokens", counting)
    monkeypatch.setattr(MiniLM, "embed_passages", also_counting)
    return seen


def write(file: Path, days: int, about: str = "# Disputes") -> None:
    text = f"{about}\n\nA customer has {days} days to dispute a payment.\n"
    file.write_text(text, encoding="utf-8")


def rules(folder: Path, text: str) -> None:
    (folder / "citewell-access.toml").write_text(f"[[rule]]\n{text}\n", encoding="utf-8")


def states(report: IndexReport) -> dict[str, FileState]:
    return {file.source.rpartition("/")[2]: file.state for file in report.files}


def days_in(answer: Answer) -> str:
    return next((word for word in answer.text.split() if word.isdecimal()), "")


def test_each_day_has_the_answer_of_its_version(index: Index, folder: Path) -> None:
    for month, days in ((1, 60), (3, 90), (5, 120)):
        write(folder / "policy.md", days)
        with at(datetime(2026, month, 10, 12, tzinfo=UTC)):
            index.add(folder)
    with at(datetime(2026, 6, 1, tzinfo=UTC)):
        assert days_in(index.ask(QUESTION)) == "120"
        for day, expected in (("2025-01-01", "60"), ("2026-03-09", "60"), ("2026-03-10", "90"), ("2026-05-10", "120")):
            answer = index.ask(QUESTION, as_of=date.fromisoformat(day))
            assert days_in(answer) == expected
            assert index.search(QUESTION, as_of=date.fromisoformat(day))[0].chunk.id == answer.hits[0].chunk.id
        assert [document.number for document in index.documents()] == [1, 3]
        history = index.history(str(folder / "policy.md"))
    assert [(one.number, one.current, one.searchable) for one in history] == [
        (1, False, True),
        (2, False, True),
        (3, True, True),
    ]
    assert [one.ending for one in history] == [Ending.REPLACED, Ending.REPLACED, None]
    # An old citation still opens.
    old = index.search(QUESTION, as_of=date(2026, 1, 1))[0].chunk
    assert index.show(old.id) == old


def test_an_edition_comes_into_force_on_its_day(index: Index, folder: Path) -> None:
    with at(datetime(2026, 1, 5, tzinfo=UTC)):
        index.add(folder)
    write(folder / "policy.md", 120)
    rules(folder, 'match = "policy.md"\nvalid_from = 2026-02-01')
    with at(datetime(2026, 1, 20, tzinfo=UTC)):
        index.add(folder)
        assert days_in(index.ask(QUESTION)) == "60", "the new edition is known, and not yet in force"
    with at(datetime(2026, 2, 1, tzinfo=UTC)):
        assert days_in(index.ask(QUESTION)) == "120"


def test_a_correction_on_the_same_day_leaves_nothing_of_the_error_to_be_found(index: Index, folder: Path) -> None:
    index.add(folder)
    write(folder / "policy.md", 61)
    index.add(folder)
    assert days_in(index.ask(QUESTION, as_of=date(2020, 1, 1))) == "61"
    assert [one.searchable for one in index.history(str(folder / "policy.md"))] == [False, True]


def test_a_rename_is_a_rename(index: Index, folder: Path, embedded: list[str]) -> None:
    index.add(folder)
    write(folder / "policy.md", 90)
    index.add(folder)
    embedded.clear()
    (folder / "old").mkdir()
    (folder / "policy.md").rename(folder / "old" / "terms.md")
    report = index.add(folder)
    assert states(report) == {"terms.md": FileState.RENAMED, "hours.md": FileState.UNCHANGED}
    assert embedded == []
    assert report.embedded == 0
    answer = index.ask(QUESTION)
    assert answer.citations[0].source == (folder / "old" / "terms.md").as_uri()
    assert [one.number for one in index.history(str(folder / "old" / "terms.md"))] == [1, 2]
    with pytest.raises(UnknownId):
        index.history(str(folder / "policy.md"))
    assert states(index.add(folder)) == {"terms.md": FileState.UNCHANGED, "hours.md": FileState.UNCHANGED}


def test_copies_touches_and_moves_embed_nothing_and_each_copy_has_its_own_rights(
    index: Index, folder: Path, embedded: list[str]
) -> None:
    index.add(folder)
    embedded.clear()
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "policy.md").write_bytes((folder / "policy.md").read_bytes())
        (folder / name / "other name.md").write_bytes((folder / "policy.md").read_bytes())
    (folder / "hours.md").touch()
    rules(folder, 'match = "a/*"\ngroups = ["staff"]\n[[rule]]\nmatch = "b/*"\ngroups = []')
    report = index.add(folder)
    assert embedded == []
    assert [file.state for file in report.files].count(FileState.ADDED) == 4
    names = {document.source.removeprefix(folder.as_uri()) for document in index.documents()}
    assert names == {"/policy.md", "/hours.md"}
    names = {document.source.removeprefix(folder.as_uri()) for document in index.documents(principal=STAFF)}
    assert names == {"/policy.md", "/hours.md", "/a/policy.md", "/a/other%20name.md"}


def test_titles_rights_dates_and_fields_change_without_embedding(
    index: Index, folder: Path, embedded: list[str]
) -> None:
    index.add(folder)
    embedded.clear()
    rules(
        folder,
        'match = "policy.md"\ntitle = "Zanzibar rules"\ngroups = ["staff"]\nvalid_to = 2099-01-01\n'
        'version = "7"\nfields = { department = "legal" }',
    )
    report = index.add(folder)
    assert embedded == []
    assert states(report)["policy.md"] is FileState.UPDATED
    assert len(index.history(str(folder / "policy.md"))) == 1, "no new version"
    assert index.ask(QUESTION).abstained
    (hit, *_) = index.search("Zanzibar", principal=STAFF)
    assert (hit.chunk.title, hit.chunk.version, "keyword" in hit.lists) == ("Zanzibar rules", "7", True)
    (folder / "citewell-access.toml").unlink()
    index.add(folder)
    assert index.search("Zanzibar")[0].chunk.title != "Zanzibar rules"
    assert embedded == []


def test_old_versions_are_never_readable_by_more_than_before_nor_than_now(index: Index, folder: Path) -> None:
    rules(folder, 'match = "policy.md"\ngroups = ["staff"]')
    with at(datetime(2026, 1, 1, tzinfo=UTC)):
        index.add(folder)
    # The redacted version is for everyone; the one before was not.
    write(folder / "policy.md", 90)
    rules(folder, 'match = "policy.md"\ngroups = ["everyone"]')
    with at(datetime(2026, 3, 1, tzinfo=UTC)):
        index.add(folder)
    assert days_in(index.ask(QUESTION)) == "90"
    assert index.ask(QUESTION, as_of=date(2026, 2, 1)).abstained
    assert days_in(index.ask(QUESTION, as_of=date(2026, 2, 1), principal=STAFF)) == "60"
    # What is closed now is closed for all its versions.
    rules(folder, 'match = "policy.md"\ngroups = ["board"]')
    index.add(folder)
    assert index.ask(QUESTION, as_of=date(2026, 2, 1), principal=STAFF).abstained
    assert index.ask(QUESTION, principal=STAFF).abstained


def test_a_document_goes_back_and_its_file_is_set_aside_until_it_changes(
    index: Index, folder: Path, embedded: list[str]
) -> None:
    index.add(folder)
    write(folder / "policy.md", 90)
    index.add(folder)
    embedded.clear()
    (back,) = index.rollback(str(folder / "policy.md"))
    assert (back.number, back.current) == (3, True)
    assert days_in(index.ask(QUESTION)) == "60"
    assert states(index.add(folder))["policy.md"] is FileState.UNCHANGED
    assert days_in(index.ask(QUESTION)) == "60"
    assert embedded == []
    write(folder / "policy.md", 120)
    assert states(index.add(folder))["policy.md"] is FileState.UPDATED
    assert days_in(index.ask(QUESTION)) == "120"
    assert index.rollback(str(folder / "policy.md"), 2)[0].number == 5
    assert days_in(index.ask(QUESTION)) == "90"
    with pytest.raises(UnknownId, match="no earlier version 9"):
        index.rollback(str(folder / "policy.md"), 9)


def test_what_is_deleted_is_in_no_leg_and_comes_back_whole(index: Index, folder: Path, embedded: list[str]) -> None:
    index.add(folder)
    embedded.clear()
    receipt = index.delete(str(folder / "policy.md"))
    (removed,) = receipt.removed
    assert (removed.versions, removed.parts["dense"], removed.parts["keyword"]) == ((1,), 1, 1)
    assert receipt.kept_until == date.today() + timedelta(days=30)  # noqa: DTZ011  # both are this machine's
    assert index.ask(QUESTION, as_of=date(2020, 1, 1)).abstained
    assert not any("60" in hit.chunk.text for hit in index.search("dispute payment customer"))
    assert index.rollback(str(folder / "policy.md"))[0].number == 2
    assert days_in(index.ask(QUESTION)) == "60"
    # Its file is there and says the same: nothing to do.
    assert states(index.add(folder))["policy.md"] is FileState.UNCHANGED
    # Deleted and not brought back, it is taken in again by the next run of its folder, and nothing is embedded.
    index.delete(str(folder / "policy.md"))
    assert states(index.add(folder))["policy.md"] is FileState.ADDED
    assert embedded == []
    assert [one.number for one in index.history(str(folder / "policy.md")) if one.current] == [3]


def test_a_folder_is_deleted_with_all_below_it(index: Index, folder: Path) -> None:
    (folder / "policy.md").rename(folder / "x.md")
    (folder / "sub").mkdir()
    write(folder / "sub" / "a.md", 1)
    write(folder / "sub" / "b.md", 2)
    index.add(folder)
    assert len(index.delete(str(folder / "sub")).removed) == 2
    assert len(index.documents()) == 2
    with pytest.raises(UnknownId):
        index.delete(str(folder / "sub"))


def test_the_whole_index_goes_back_to_a_named_state(index: Index, folder: Path, embedded: list[str]) -> None:
    index.add(folder)
    index.name_state("before")
    write(folder / "policy.md", 90)
    (folder / "hours.md").unlink()
    write(folder / "new.md", 5, "# New")
    index.add(folder)
    embedded.clear()
    reports: dict[str, FileReport] = {file.source.rpartition("/")[2]: file for file in index.rollback_to("before")}
    assert {name: file.state for name, file in reports.items()} == {
        "policy.md": FileState.UPDATED,
        "hours.md": FileState.UPDATED,
        "new.md": FileState.REMOVED,
    }
    assert {document.source.rpartition("/")[2] for document in index.documents()} == {"policy.md", "hours.md"}
    assert days_in(index.ask(QUESTION)) == "60"
    assert embedded == []
    assert index.rollback_to("before") == ()
    with pytest.raises(UnknownId, match="Named states: before"):
        index.rollback_to("never")
    with pytest.raises(UsageError, match="already"):
        index.name_state("before")


def test_what_came_after_a_named_state_goes_and_what_is_not_kept_of_it_stays(index: Index, folder: Path) -> None:
    day = datetime(2026, 1, 1, 9, tzinfo=UTC)
    with at(day):
        index.add(folder)
        index.name_state("before")
    write(folder / "policy.md", 90)
    with at(day + timedelta(hours=1)):
        index.add(folder)  # the version before is corrected, and kept for 30 days
    for number in (1, 2):
        write(folder / "new.md", number, "# New")
        with at(day + timedelta(days=40 + number)):
            index.add(folder)
            assert index.history(str(folder / "policy.md"))[0].number == 2
    reports = {file.source.rpartition("/")[2]: (file.state, file.reason) for file in index.rollback_to("before")}
    assert reports == {
        "new.md": (FileState.REMOVED, "It came later."),
        "policy.md": (FileState.UNCHANGED, "Its version of then is not kept."),
    }
    assert {document.source.rpartition("/")[2] for document in index.documents()} == {"policy.md", "hours.md"}


def test_what_expired_is_withheld_on_its_day_and_gone_after_the_next_run(index: Index, folder: Path) -> None:
    rules(folder, 'match = "policy.md"\nexpires = 2026-06-01')
    with at(datetime(2026, 5, 31, 23, tzinfo=UTC)):
        index.add(folder)
        assert days_in(index.ask(QUESTION)) == "60"
    with at(datetime(2026, 6, 1, 1, tzinfo=UTC)):
        assert index.ask(QUESTION).abstained
        (removed,) = (file for file in index.add(folder).files if file.state is FileState.REMOVED)
        assert "expired on 2026-06-01" in removed.reason
        assert index.ask(QUESTION, as_of=date(2026, 5, 1)).abstained
        assert [one.ending for one in index.history(str(folder / "policy.md"))] == [Ending.EXPIRED]
        assert FileState.ADDED not in states(index.add(folder)).values()


def test_what_was_kept_long_enough_is_dropped(index: Index, folder: Path) -> None:
    with at(datetime(2026, 1, 1, tzinfo=UTC)):
        index.add(folder)
        index.delete(str(folder / "hours.md"))
        (folder / "hours.md").unlink()
    with at(datetime(2026, 1, 30, tzinfo=UTC)):
        index.add(folder)
        assert index.history(str(folder / "hours.md"))
    with at(datetime(2026, 2, 1, tzinfo=UTC)):
        index.add(folder)
        with pytest.raises(UnknownId):
            index.history(str(folder / "hours.md"))


def test_no_more_past_versions_are_found_than_the_settings_keep(tmp_path: Path, folder: Path) -> None:
    settings = Settings.model_validate({"storage": {"keep_versions": 1}})
    with Index.create(tmp_path / "few", settings=settings) as index:
        for day in range(1, 5):
            write(folder / "policy.md", 10 * day)
            with at(datetime(2026, 1, day, tzinfo=UTC)):
                index.add(folder)
        history = index.history(str(folder / "policy.md"))
    assert [one.searchable for one in history] == [False, False, True, True]


def test_a_purge_leaves_no_byte_of_a_document_in_any_file(index: Index, folder: Path) -> None:
    phrase = "Quetzalcoatlus northropi pays in doubloons"
    (folder / "secret.md").write_text(f"# Secret\n\n{phrase}.\n", encoding="utf-8")
    index.add(folder)
    (folder / "secret.md").write_text(f"# Secret\n\n{phrase}, always.\n", encoding="utf-8")
    index.add(folder)
    versions = index._store.fetch(keys_of(index, folder / "secret.md"))
    vectors = [vector.tobytes() for version in versions for vector in version.vectors]
    assert len(vectors) == 2
    needles = [b"Quetzalcoatlus", b"quetzalcoatlus", *vectors]
    assert all(found_in(index, needle) for needle in needles), "or their absence would prove nothing"
    (folder / "secret.md").unlink()
    receipt = index.purge(str(folder / "secret.md"))
    assert (receipt.purged, receipt.kept_until, receipt.removed[0].versions) == (True, None, (1, 2))
    assert [needle for needle in needles if found_in(index, needle)] == []
    assert days_in(index.ask(QUESTION)) == "60"
    with pytest.raises(UnknownId):
        index.purge(str(folder / "secret.md"))


def test_a_purge_that_was_cut_short_is_ended_by_its_repetition_or_by_any_run(index: Index, folder: Path) -> None:
    index.add(folder)
    vectors = [row.tobytes() for row in index._store.fetch(keys_of(index, folder / "hours.md"))[0].vectors]
    needles = [b"Branches open at nine", *vectors]
    for end in ("repetition", "run", "migration"):
        die_while_purging(index, folder / "hours.md")
        with pytest.raises(UnknownId):
            index.history(str(folder / "hours.md"))
        assert all(found_in(index, needle) for needle in needles)
        if end == "repetition":
            receipt = index.purge(str(folder / "hours.md"))
            assert [(one.source, one.versions, one.parts["texts"]) for one in receipt.removed] == [
                ((folder / "hours.md").as_uri(), (1,), 1)
            ]
        elif end == "run":
            index.add(folder / "policy.md")
        else:
            with pytest.raises(UsageError, match="no generation to go back to"):
                index.migrate_back()
        assert [needle for needle in needles if found_in(index, needle)] == []
        with pytest.raises(UnknownId):
            index.purge(str(folder / "hours.md"))
        index.add(folder)
    assert index.show(str(folder / "hours.md"))


def test_another_purge_ends_one_that_was_cut_short_and_has_a_receipt_of_its_own(index: Index, folder: Path) -> None:
    index.add(folder)
    die_while_purging(index, folder / "hours.md")
    (removed,) = index.purge(str(folder / "policy.md")).removed
    assert removed.source == (folder / "policy.md").as_uri()
    assert not found_in(index, b"Branches open at nine")
    index.add(folder)
    die_while_purging(index, folder / "hours.md")
    receipt = index.purge(str(folder))
    assert [one.source.rpartition("/")[2] for one in receipt.removed] == ["hours.md", "policy.md"]


def test_a_purge_is_repeated_by_any_name_of_it(index: Index, folder: Path) -> None:
    archived(folder)
    index.add(folder)
    mail = index.show(str(folder / "rates.eml"))
    for name in (mail.id, (folder / "rates.eml").as_uri(), str(folder / "rates.eml")):
        die_while_purging(index, folder / "rates.eml")
        removed = index.purge(name).removed
        assert [one.source.removeprefix((folder / "rates.eml").as_uri()) for one in removed] == [
            "",
            *(f"!/{inside}" for inside in INSIDE),
        ]
        index.add(folder)


class ScriptedDeath(Exception):
    """Stands for the death of the writer at the point where it is raised."""


def die(*_: object) -> None:
    raise ScriptedDeath


def die_while_purging(index: Index, file: Path) -> None:
    """After the commit, when the files are to be removed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lance_writing, "erase", die)
        with pytest.raises(ScriptedDeath):
            index.purge(str(file))


INSIDE = ["fees.md", "rates.zip", "rates.zip!/rates/loans.md", "rates.zip!/rates/savings.md"]


def archived(folder: Path) -> None:
    """A mail with two attachments, one of them an archive."""
    with zipfile.ZipFile(folder / "rates.zip", "w") as archive:
        archive.writestr("rates/savings.md", "# Savings\n\nSavings earn two per cent.\n")
        archive.writestr("rates/loans.md", "# Loans\n\nLoans cost nine per cent.\n")
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Rates", "a@bank.example", "b@bank.example"
    mail.set_content("The rates of this year are attached.")
    mail.add_attachment("# Fees\n\nAn account costs three dollars.\n", subtype="markdown", filename="fees.md")
    mail.add_attachment(
        (folder / "rates.zip").read_bytes(), maintype="application", subtype="zip", filename="rates.zip"
    )
    (folder / "rates.zip").unlink()
    (folder / "rates.eml").write_bytes(mail.as_bytes())


def names_of(versions: Iterable[Version | Document]) -> list[str]:
    return sorted(one.source.rpartition("/files/")[2] for one in versions)


def test_with_a_deleted_mail_comes_back_what_was_deleted_with_it(
    index: Index, folder: Path, embedded: list[str]
) -> None:
    archived(folder)
    index.add(folder)
    fees, *others = (f"rates.eml!/{name}" for name in INSIDE)
    assert names_of(index.documents())[2:] == ["rates.eml", fees, *others]
    index.delete(f"{folder}/rates.eml!/fees.md")
    index.delete(str(folder / "rates.eml"))
    assert names_of(index.documents()) == ["hours.md", "policy.md"]
    embedded.clear()
    back = index.rollback(str(folder / "rates.eml"))
    assert [one.source.rpartition("/files/")[2] for one in back] == ["rates.eml", *others]
    assert {(one.number, one.current) for one in back} == {(2, True)}
    assert index.search("What do loans cost?")[0].chunk.text.endswith("Loans cost nine per cent.")
    # What was deleted before it, on its own, comes back by its own name.
    assert names_of(index.deleted()) == [fees]
    assert names_of(index.rollback(f"{folder}/rates.eml!/fees.md")) == [fees]
    assert embedded == []
    assert set(states(index.add(folder)).values()) == {FileState.UNCHANGED}
    # An archive of which only the files inside are deleted is not the matter of a folder.
    index.delete(f"{folder}/rates.eml!/fees.md")
    with pytest.raises(UnknownId):
        index.rollback(str(folder))


def test_what_lies_in_a_mail_comes_back_for_no_more_than_may_read_the_mail_now(index: Index, folder: Path) -> None:
    archived(folder)
    index.add(folder)
    fees = f"{folder}/rates.eml!/fees.md"
    index.delete(fees)
    rules(folder, 'match = "rates.eml"\ngroups = ["hr"]')
    index.add(folder)
    (back,) = index.rollback(fees)
    assert back.rights.groups == {"hr"}
    assert not any(hit.chunk.source.endswith("fees.md") for hit in index.search("What does an account cost?"))


def test_a_folder_comes_back_as_it_was_deleted(index: Index, folder: Path, embedded: list[str]) -> None:
    archived(folder)
    rules(folder, 'match = "hours.md"\nexpires = 2026-02-01')
    with at(datetime(2026, 1, 1, tzinfo=UTC)):
        index.add(folder)
        before = names_of(index.documents())
    write(folder / "policy.md", 90)
    with at(datetime(2026, 2, 1, tzinfo=UTC)):
        index.add(folder)
        assert names_of(index.deleted()) == ["hours.md"]
        index.delete(str(folder))
        assert index.documents() == ()
        embedded.clear()
        with pytest.raises(UnknownId):
            index.rollback(str(folder), 1)
        back = index.rollback(str(folder))
        # What has expired stays away: the next run would only take it out again.
        assert names_of(back) == names_of(index.documents()) == [name for name in before if name != "hours.md"]
        assert days_in(index.ask(QUESTION)) == "90"
        assert [one.number for one in back if one.source.endswith("policy.md")] == [3]
        assert embedded == []
        with pytest.raises(UnknownId):
            index.rollback(str(folder))


def test_a_named_state_is_forgotten_and_its_name_is_free(index: Index, folder: Path) -> None:
    index.add(folder)
    for name in ("first", "second"):
        index.name_state(name)
    assert index.drop_state("first") < index.states()["second"]
    assert set(index.states()) == {"second"}
    assert len(index.documents()) == 2
    for call in (index.drop_state, index.rollback_to):
        with pytest.raises(UnknownId, match="Named states: second"):
            call("first")
    index.name_state("first")
    assert list(index.states()) == ["second", "first"]


def keys_of(index: Index, path: Path) -> list[VersionKey]:
    return [VersionKey(one.document_id, one.number) for one in index.history(str(path))]


def found_in(index: Index, needle: bytes) -> bool:
    return any(needle in file.read_bytes() for file in Path(index.location).rglob("*") if file.is_file())


def test_a_version_brought_back_follows_the_rules_and_stays_set_aside(index: Index, folder: Path) -> None:
    index.add(folder)
    write(folder / "policy.md", 90)
    index.add(folder)
    index.rollback(str(folder / "policy.md"))
    rules(folder, 'match = "policy.md"\ngroups = ["staff"]')
    assert states(index.add(folder))["policy.md"] is FileState.UPDATED
    assert index.ask(QUESTION).abstained
    for _ in range(2):
        assert days_in(index.ask(QUESTION, principal=STAFF)) == "60"
        assert states(index.add(folder))["policy.md"] is FileState.UNCHANGED


def test_a_text_whose_file_broke_says_that_it_is_old(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "policy.md").write_bytes(b"\x00\x01\x02\xff" * 100)
    index.add(folder)
    (document,) = (one for one in index.documents() if one.source.endswith("policy.md"))
    assert document.lost.startswith("Its file could not be read when last looked at, so this is its text of before")
    write(folder / "policy.md", 60)
    index.add(folder)
    assert [one.lost for one in index.documents()] == ["", ""]


def test_many_paths_are_looked_up_as_few_are(index: Index, folder: Path) -> None:
    files = [folder / f"{number}.md" for number in range(25)]
    for number, file in enumerate(files):
        write(file, number)
    assert len(index.add(*files).files) == 25
    files[3].unlink()
    files[3].mkdir()
    report = index.add(*files)
    assert states(report)["3.md"] is FileState.REMOVED
    assert len(index.documents()) == 24
