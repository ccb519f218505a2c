"""Files inside files, lost pages and changed rights, through the whole of indexing."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest

import citewell
from citewell import Index, Principal, Settings
from citewell.errors import UnknownId
from citewell.loading import isolation
from citewell.types import FileState, IndexReport

TERMS = "The notice period of the lease in Harrowgate is nine months."
MENU = "On Thursdays the canteen serves lentil soup with bread."


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index") as index:
        yield index


def zipped(**members: str | bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_dot_", ".").replace("_in_", "/"), data)
    return target.getvalue()


def mail(text: str, attachment: bytes, name: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ann@example.org", "bo@example.org", "The lease"
    message.set_content(text)
    message.add_attachment(attachment, maintype="application", subtype="octet-stream", filename=name)
    return bytes(message)


def states(report: IndexReport) -> dict[str, FileState]:
    return {file.source.rpartition("/files/")[2]: file.state for file in report.files}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    letter = mail("Please see the terms attached.", TERMS.encode(), "terms.txt")
    (folder / "old.zip").write_bytes(zipped(canteen_in_menu_dot_md=f"# Menu\n\n{MENU}\n", letter_dot_eml=letter))
    return folder


def test_files_in_files_are_documents_of_their_own(index: Index, folder: Path) -> None:
    report = index.add(folder)
    assert states(report) == dict.fromkeys(
        ["old.zip", "old.zip!/canteen/menu.md", "old.zip!/letter.eml", "old.zip!/letter.eml!/terms.txt"],
        FileState.ADDED,
    )
    answer = index.ask("How long is the notice period of the lease in Harrowgate?")
    assert answer.citations[0].quote == TERMS
    assert answer.citations[0].source.endswith("/old.zip!/letter.eml!/terms.txt")
    assert answer.citations[0].link == (folder / "old.zip").as_uri()
    attached = index.show(answer.citations[0].document_id)
    assert isinstance(attached, citewell.Document)
    assert attached.parent_id is not None
    letter = index.show(attached.parent_id)
    assert isinstance(letter, citewell.Document)
    assert letter.metadata["from"] == "ann@example.org"


def test_a_second_run_reads_nothing(index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = index.add(folder)

    def scripted_refusal(*_: object) -> None:
        raise AssertionError("it was read again")

    monkeypatch.setattr(isolation._Reader, "parse", scripted_refusal)
    again = index.add(folder)
    assert states(again) == dict.fromkeys(states(first), FileState.UNCHANGED)
    assert again.embedded == 0


def test_what_is_taken_out_of_an_archive_is_removed(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "old.zip").write_bytes(zipped(canteen_in_menu_dot_md=f"# Menu\n\n{MENU}\n"))
    assert states(index.add(folder)) == {
        "old.zip": FileState.UPDATED,
        "old.zip!/canteen/menu.md": FileState.UNCHANGED,
        "old.zip!/letter.eml": FileState.REMOVED,
        "old.zip!/letter.eml!/terms.txt": FileState.REMOVED,
    }
    assert index.ask("How long is the notice period of the lease in Harrowgate?").abstained


def test_a_named_archive_is_kept_in_step_too(index: Index, folder: Path) -> None:
    index.add(folder / "old.zip")
    (folder / "old.zip").write_bytes(zipped(canteen_in_menu_dot_md=f"# Menu\n\n{MENU}\n"))
    assert states(index.add(folder / "old.zip"))["old.zip!/letter.eml"] is FileState.REMOVED


def test_an_archive_that_breaks_keeps_what_was_in_it(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "old.zip").write_bytes((folder / "old.zip").read_bytes()[:200])
    report = index.add(folder)
    assert states(report)["old.zip"] is FileState.FAILED
    assert TERMS in index.ask("How long is the notice period of the lease in Harrowgate?").text


def test_a_vanished_archive_takes_all_of_it_along(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "note.txt").write_text("A note stays.", encoding="utf-8")
    (folder / "old.zip").unlink()
    assert set(states(index.add(folder)).values()) == {FileState.REMOVED, FileState.ADDED}
    assert [document.title for document in index.documents()] == ["note"]


def test_deleting_an_archive_deletes_what_is_in_it(index: Index, folder: Path) -> None:
    index.add(folder)
    index.delete(str(folder / "old.zip"))
    assert index.documents() == ()


def test_files_in_files_have_the_rights_of_the_outer_one(index: Index, folder: Path) -> None:
    rule = '[[rule]]\nmatch = "*.zip"\ngroups = ["{}"]\ntitle = "The old archive"\n'
    (folder / "citewell-access.toml").write_text(rule.format("tenants"), encoding="utf-8")
    index.add(folder)
    tenant = Principal(groups=frozenset({"tenants"}))
    assert index.documents() == ()
    titles = {document.title for document in index.documents(principal=tenant)}
    assert titles == {"The old archive", "Menu", "The lease", "terms"}

    (folder / "citewell-access.toml").write_text(rule.format("owners"), encoding="utf-8")
    report = index.add(folder)
    assert set(states(report).values()) == {FileState.UPDATED}
    assert report.embedded == 0
    assert index.documents(principal=tenant) == ()
    assert len(index.documents(principal=Principal(groups=frozenset({"owners"})))) == 4


def test_rights_change_without_reading_again(index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index.add(folder)
    rule = '[[rule]]\nmatch = "*.zip"\ngroups = ["tenants"]\n'
    (folder / "citewell-access.toml").write_text(rule, encoding="utf-8")

    def scripted_refusal(*_: object) -> None:
        raise AssertionError("it was read again")

    monkeypatch.setattr(isolation._Reader, "parse", scripted_refusal)
    report = index.add(folder)
    assert (set(states(report).values()), report.embedded) == ({FileState.UPDATED}, 0)
    assert index.documents() == ()


def test_what_fails_inside_is_told_with_the_outer_file_and_tried_again_when_it_may_succeed(
    index: Index, folder: Path
) -> None:
    (folder / "old.zip").write_bytes(zipped(menu_dot_md=f"# Menu\n\n{MENU}\n", plan_dot_pdf=b"%PDF-1.4 no more"))
    report = index.add(folder)
    assert states(report)["old.zip"] is FileState.PARTLY
    assert states(report)["old.zip!/plan.pdf"] is FileState.FAILED
    generation = (Path(index.location) / "generations/1/manifest.json").read_bytes()
    again = {file.source.rpartition("/files/")[2]: file for file in index.add(folder).files}
    assert (again["old.zip"].state, again["old.zip!/plan.pdf"].state) == (FileState.PARTLY, FileState.FAILED)
    assert "plan.pdf: It cannot be read as a PDF" in again["old.zip"].reason
    # Nothing is stored anew for it.
    assert (Path(index.location) / "generations/1/manifest.json").read_bytes() == generation

    with Index.open(index.location, settings=Settings.model_validate({"loading": {"max_pages": 9}})) as other:
        assert states(other.add(folder))["old.zip!/plan.pdf"] is FileState.FAILED


def test_an_answer_tells_what_could_not_be_read(index: Index, folder: Path) -> None:
    (folder / "old.zip").write_bytes(zipped(menu_dot_md=f"# Menu\n\n{MENU}\n", plan_dot_pdf=b"%PDF-1.4 no more"))
    rule = '[[rule]]\nmatch = "*.zip"\ngroups = ["tenants"]\n'
    (folder / "citewell-access.toml").write_text(rule, encoding="utf-8")
    index.add(folder)
    tenant = Principal(groups=frozenset({"tenants"}))
    lost = index.ask("Where is the emergency exit?", principal=tenant)
    assert lost.abstained
    (warning,) = lost.warnings
    assert warning.startswith("What could not be read of old may hold the answer (plan.pdf: It cannot be read as a PDF")
    # Who may not read the archive does not learn of it.
    assert index.ask("Where is the emergency exit?").warnings == ()
    found = index.ask("What does the canteen serve on Thursdays?", principal=tenant)
    assert (found.abstained, found.warnings) == (False, ())


def test_nesting_is_bounded(tmp_path: Path, folder: Path) -> None:
    data = zipped(deepest_dot_txt=TERMS)
    for _ in range(3):
        data = zipped(inner_dot_zip=data)
    (folder / "old.zip").write_bytes(data)
    with Index.create(tmp_path / "shallow", settings=Settings.model_validate({"loading": {"max_depth": 2}})) as index:
        found = states(index.add(folder))
    assert found["old.zip!/inner.zip!/inner.zip!/inner.zip"] is FileState.FAILED
    assert len(found) == 4


def test_what_is_inside_is_shown_by_its_source(index: Index, folder: Path) -> None:
    index.add(folder)
    source = (folder / "old.zip").as_uri() + "!/letter.eml"
    for name in (source, f"{folder}/old.zip!/letter.eml"):
        shown = index.show(name)
        assert isinstance(shown, citewell.Document)
        assert shown.title == "The lease"
    with pytest.raises(UnknownId):
        index.show(source + "!/absent")


def test_a_file_that_is_emptied_is_no_longer_searched(index: Index, folder: Path) -> None:
    (folder / "note.txt").write_text("The gate code is seven three one.", encoding="utf-8")
    index.add(folder)
    (folder / "note.txt").write_text("", encoding="utf-8")
    report = {file.source.rpartition("/files/")[2]: file for file in index.add(folder).files}
    assert report["note.txt"].state is FileState.REMOVED
    assert "The file is empty" in report["note.txt"].reason
    assert "note" not in {document.title for document in index.documents()}


def test_what_cannot_be_indexed_is_skipped_and_no_failure(index: Index, folder: Path) -> None:
    (folder / "program").write_bytes(b"\x7fELF" + bytes(200))
    (folder / "empty.txt").touch()
    (folder / "link").symlink_to(folder / "old.zip")
    report = index.add(folder)
    assert {states(report)[name] for name in ("program", "empty.txt", "link")} == {FileState.SKIPPED}
    assert report.failed == ()


def archive(members: Mapping[str, bytes]) -> bytes:
    """As `zipped`, for names that are no words."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as new:
        for name, data in members.items():
            new.writestr(name, data)
    return target.getvalue()


@pytest.mark.parametrize(
    "names", [("../x.txt", "__/x.txt"), ("a//b.txt", "a/_/b.txt"), ("x.txt", "x.txt!2"), ("./x", "_/x")]
)
def test_names_that_come_to_one_source_are_told_apart(index: Index, folder: Path, names: tuple[str, str]) -> None:
    (folder / "old.zip").write_bytes(archive({name: f"Text {place}.".encode() for place, name in enumerate(names)}))
    report = index.add(folder)
    assert len(states(report)) == 3
    assert {file.state for file in report.files} == {FileState.ADDED}
    assert {file.state for file in index.add(folder).files} == {FileState.UNCHANGED}


def test_what_is_taken_out_is_gone_also_when_the_run_is_stopped_right_after(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "old.zip").write_bytes(zipped(canteen_in_menu_dot_md=f"# Menu\n\n{MENU}\n"))

    def scripted_ctrl_c(progress: citewell.Progress) -> None:
        if not progress.source and progress.files_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.add(folder, on_progress=scripted_ctrl_c)
    assert {document.title for document in index.documents()} == {"old", "Menu"}
    assert set(states(index.add(folder)).values()) == {FileState.UNCHANGED}


def test_what_was_lost_deep_inside_is_read_when_a_limit_is_raised(index: Index, folder: Path) -> None:
    data = zipped(inner_dot_zip=zipped(inner_dot_zip=zipped(terms_dot_txt=TERMS)))
    (folder / "old.zip").write_bytes(data)
    with Index.open(index.location, settings=Settings.model_validate({"loading": {"max_depth": 2}})) as shallow:
        assert states(shallow.add(folder))["old.zip!/inner.zip!/inner.zip"] is FileState.PARTLY
        unchanged = {file.source.rpartition("/files/")[2]: file for file in shallow.add(folder).files}
        assert unchanged["old.zip!/inner.zip!/inner.zip"].reason
    assert states(index.add(folder))["old.zip!/inner.zip!/inner.zip!/terms.txt"] is FileState.ADDED
    assert set(states(index.add(folder)).values()) == {FileState.UNCHANGED}


def test_the_files_within_one_file_are_bounded_in_all(tmp_path: Path, folder: Path) -> None:
    few = zipped(**{f"n{number}_dot_txt": f"Note {number}." for number in range(4)})
    (folder / "old.zip").write_bytes(zipped(a_dot_zip=few, b_dot_zip=few, c_dot_zip=few))
    with Index.create(tmp_path / "few", settings=Settings.model_validate({"loading": {"max_inside": 10}})) as index:
        found = states(index.add(folder))
    assert found["old.zip!/b.zip"] is FileState.FAILED
    assert len([name for name in found if name.endswith(".txt")]) == 4


def test_rules_inside_an_archive_do_not_count_and_are_told(index: Index, folder: Path) -> None:
    rules = b'[[rule]]\nmatch = "*"\ngroups = []\n'
    (folder / "old.zip").write_bytes(archive({"x/citewell-access.toml": rules, "x/note.txt": b"A note."}))
    report = {file.source.rpartition("/files/")[2]: file for file in index.add(folder).files}
    assert set(report) == {"old.zip", "old.zip!/x/note.txt"}
    assert report["old.zip"].warnings == (
        "It holds x/citewell-access.toml: what such files say inside another file does not count.",
    )


def test_a_side_file_without_its_file_is_told(index: Index, folder: Path) -> None:
    (folder / "lod.zip.citewell.toml").write_text('groups = ["board"]\n', encoding="utf-8")
    (warning,) = index.add(folder).warnings
    assert warning.startswith(str(folder / "lod.zip.citewell.toml"))


def test_changed_readers_of_a_file_that_fails_are_told(index: Index, folder: Path) -> None:
    (folder / "note.md").write_text("# Note\n\nThe gate code is seven.", encoding="utf-8")
    index.add(folder)
    (folder / "note.md").write_text("---\ngroups: 5\n---\nNo.", encoding="utf-8")
    (folder / "note.md.citewell.toml").write_text('groups = ["hr"]\n', encoding="utf-8")
    report = {file.source.rpartition("/files/")[2]: file for file in index.add(folder).files}["note.md"]
    assert report.state is FileState.FAILED
    assert report.warnings == ("It is now readable by hr; it was by everyone.",)


def test_an_author_that_a_rule_gave_goes_with_the_rule(index: Index, folder: Path) -> None:
    side = folder / "note.md.citewell.toml"
    (folder / "note.md").write_text("---\nauthor: The file\n---\nText.", encoding="utf-8")
    side.write_text('author = "The rule"\n', encoding="utf-8")
    index.add(folder)
    assert next(one for one in index.documents() if one.title == "note").metadata["author"] == "The rule"
    side.unlink()
    index.add(folder)
    assert next(one for one in index.documents() if one.title == "note").metadata["author"] == "The file"


def test_a_named_file_that_becomes_a_folder_and_back(index: Index, folder: Path) -> None:
    place = folder / "a"
    place.write_text("A file.", encoding="utf-8")
    index.add(place)
    place.unlink()
    place.mkdir()
    (place / "n.txt").write_text("A note.", encoding="utf-8")
    assert states(index.add(place)) == {"a": FileState.REMOVED, "a/n.txt": FileState.ADDED}
    (place / "n.txt").unlink()
    place.rmdir()
    place.write_text("A file.", encoding="utf-8")
    assert states(index.add(place)) == {"a": FileState.ADDED, "a/n.txt": FileState.REMOVED}


def test_one_table_does_not_push_everything_else_out(tmp_path: Path) -> None:
    rows = "\n".join(f"| Travel abroad {number} | EUR {number} |" for number in range(120))
    files = tmp_path / "files"
    files.mkdir()
    (files / "fees.md").write_text(f"# Fees\n\n| Fee | Amount |\n|---|---|\n{rows}\n", encoding="utf-8")
    for number in range(12):
        (files / f"n{number}.md").write_text(f"# Note {number}\n\nThe fee for travel is due.\n", encoding="utf-8")
    settings = Settings.model_validate({"chunking": {"table_rows": True}, "retrieval": {"candidates": 20}})
    with Index.create(tmp_path / "rows", settings=settings) as index:
        index.add(files)
        found = index.search("fee for travel abroad", k=8)
    assert len({hit.passage.id for hit in found}) == len(found) == 8


def test_a_program_in_an_archive_is_skipped_and_nothing_is_lost(index: Index, folder: Path) -> None:
    (folder / "old.zip").write_bytes(zipped(tool_dot_exe=b"MZ" + bytes(300), menu_dot_md=f"# Menu\n\n{MENU}\n"))
    found = states(index.add(folder))
    assert (found["old.zip"], found["old.zip!/tool.exe"]) == (FileState.ADDED, FileState.SKIPPED)
    assert index.ask("What is the smell of the moon?").warnings == ()


def test_many_failures_inside_are_named_in_part(index: Index, folder: Path) -> None:
    broken = {f"plan{number}.pdf": b"%PDF-1.4 no more" for number in range(8)}
    (folder / "old.zip").write_bytes(archive(broken))
    report = {file.source.rpartition("/files/")[2]: file for file in index.add(folder).files}["old.zip"]
    assert report.reason.endswith("; and 3 more files in it")
