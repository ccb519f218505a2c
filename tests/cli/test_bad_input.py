"""Bad input: a clear message and the right exit code, for a person and for a program."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Run, another_writer, program


def refused(ran: Ran, code: int, message: str) -> None:
    """It ended with this code, nothing on standard output, one line that holds the message, and one with a remedy."""
    lines = ran.err.splitlines()
    assert (ran.code, ran.out, len(lines)) == (code, "", 2), ran
    assert lines[0].startswith("citewell: ")
    assert message in lines[0]
    assert lines[1].startswith("  ")
    assert "Traceback" not in ran.err


def test_an_empty_folder(tmp_path: Path, citewell: Run) -> None:
    (tmp_path / "empty").mkdir()
    refused(citewell("index", tmp_path / "empty", "--index", tmp_path / "x"), 2, "There is nothing to index in")
    assert not (tmp_path / "x").exists()


def test_a_missing_path_makes_no_index(tmp_path: Path, citewell: Run) -> None:
    refused(
        citewell("index", tmp_path / "nowhere", "--index", tmp_path / "x"),
        2,
        f"There is no file or folder {tmp_path}/nowhere.",
    )
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "command",
    [
        *(["ask", "x"], ["search", "x"], ["status"], ["documents"], ["show", "x"], ["delete", "x"]),
        *(["history"], ["history", "x"], ["rollback", "x"], ["purge", "x", "--yes"]),
    ],
)
def test_a_missing_index(tmp_path: Path, citewell: Run, command: list[str]) -> None:
    refused(citewell(*command, "--index", tmp_path / "x"), 2, f"There is no index in {tmp_path}/x.")
    error = citewell(*command, "--index", tmp_path / "x", "--json").json
    assert list(error) == ["version", "error"]
    assert list(error["error"]) == ["kind", "message", "remedy"]
    assert (error["version"], error["error"]["kind"]) == (1, "IndexNotFound")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("question", ["", "  \n\t "])
def test_an_empty_question(bank: Path, citewell: Run, question: str) -> None:
    refused(citewell("ask", question), 2, "The question is empty.")
    refused(citewell("search", question), 2, "The question is empty.")


def test_a_question_of_100_kb(bank: Path, citewell: Run) -> None:
    question = "many days " * 10_240
    refused(citewell("ask", question), 2, "The question has 102,399 characters.")
    refused(citewell("ask", "-", stdin=question.encode()), 2, "The question has 102,399 characters.")


def test_a_question_that_is_not_text(bank: Path, citewell: Run) -> None:
    refused(citewell("ask", "-", stdin=b"caf\xe9"), 2, "not valid UTF-8")
    refused(citewell("ask", os.fsdecode(b"caf\xe9")), 2, "not valid UTF-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("preset = \n", "is not valid TOML"),
        ("[retrieval]\nkeeep = 3\n", "retrieval.keeep: unknown key"),
        ("[retrieval]\nkeep = 0\n", "retrieval.keep must be 1 or more"),
    ],
)
def test_a_broken_settings_file(bank: Path, tmp_path: Path, citewell: Run, text: str, message: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    refused(citewell("ask", "x", "--settings", path), 2, message)
    assert str(path) in citewell("ask", "x", "--settings", path).err


def test_a_missing_settings_file(bank: Path, citewell: Run) -> None:
    refused(citewell("ask", "x", "--settings", "nowhere.toml"), 2, "There is no file nowhere.toml.")


def test_an_index_of_another_version(bank: Path, tmp_path: Path, citewell: Run) -> None:
    shutil.copytree(bank / ".citewell", tmp_path / "x")
    rewrite(tmp_path / "x" / "index.json", format=99)
    refused(citewell("ask", "x", "--index", tmp_path / "x"), 3, "has format 99")
    refused(citewell("index", "manuals", "--index", tmp_path / "x"), 3, "has format 99")
    assert citewell("status", "--index", tmp_path / "x", "--json").json["error"]["kind"] == "IndexFormatError"


def test_an_index_of_another_model(bank: Path, tmp_path: Path, citewell: Run) -> None:
    shutil.copytree(bank / ".citewell", tmp_path / "x")
    path = tmp_path / "x" / "generations" / "1" / "manifest.json"
    made_with = json.loads(path.read_text())["made_with"]
    made_with["canaries"] = [[-number for number in vector] for vector in made_with["canaries"]]
    rewrite(path, made_with=made_with)
    refused(citewell("ask", "disputes", "--index", tmp_path / "x"), 3, "results would be meaningless")


def rewrite(path: Path, **keys: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def test_a_locked_index(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    with another_writer(manuals.parent / ".citewell") as pid:
        refused(citewell("index", "manuals"), 3, f"is being written to by process {pid} on ")
        refused(citewell("delete", "manuals/letter.md"), 3, f"is being written to by process {pid} on ")
        assert "120 days" in citewell("ask", "How many days to dispute a card payment?").out
    assert citewell("index", "manuals").code == 0


@pytest.mark.parametrize(
    "command",
    [
        *(["index", ""], ["show", ""], ["delete", ""], ["purge", "", "--yes"], ["history", " "], ["rollback", ""]),
        *(["ask", "x", "--as", ""], ["documents", "--index", ""], ["history", "--name", ""]),
    ],
)
def test_an_empty_name_is_not_the_current_folder(bank: Path, citewell: Run, command: list[str]) -> None:
    refused(citewell(*command), 2, "It is empty.")
    assert citewell("status", "--json").json["documents"] == 4


NOT_UTF_8 = os.fsdecode(b"caf\xe9.md")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["search", "x", "--as", NOT_UTF_8], "not valid UTF-8"),
        (["search", "x", "--index", NOT_UTF_8], "not valid UTF-8"),
        (["history", "--name", NOT_UTF_8], "not valid UTF-8"),
        (["search", "x", "--where", f"title = {NOT_UTF_8}"], "The filter on title (text) has the value"),
        (["show", NOT_UTF_8], "There is no document or chunk"),
        (["delete", NOT_UTF_8], "There is no document or chunk"),
        (["index", NOT_UTF_8], "There is no file or folder"),
    ],
)
def test_bytes_that_are_not_utf_8(bank: Path, citewell: Run, command: list[str], message: str) -> None:
    refused(citewell(*command), 2, message)


def test_a_file_whose_name_is_not_utf_8_is_found_by_it(manuals: Path, citewell: Run) -> None:
    (manuals / NOT_UTF_8).write_text("# Coffee\n\nCoffee is free.\n")
    citewell("index", "manuals")
    assert citewell("show", f"manuals/{NOT_UTF_8}", "--json").json["title"] == "Coffee"
    assert citewell("delete", f"manuals/{NOT_UTF_8}").code == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["show", "loop"], "There is no document or chunk 'loop'."),
        (["delete", "loop/x"], "There is no document or chunk 'loop/x'."),
        (["index", "loop"], "loop cannot be read"),
        (["index", "manuals", "--index", "loop"], "loop is not a directory"),
        (["search", "x", "--index", "loop"], "There is no index in loop."),
    ],
)
def test_a_loop_of_links(manuals: Path, citewell: Run, command: list[str], message: str) -> None:
    citewell("index", "manuals")
    Path("loop").symlink_to("loop")
    refused(citewell(*command), 2, message)


@pytest.mark.parametrize(
    ("place", "code", "message"),
    [
        ("postgresql://me:s3cret@127.0.0.1:1/db?schema=x", 4, "postgresql://me@127.0.0.1:1/db?schema=x: "),
        ("postgresql://me:s3cret%zz@127.0.0.1/db", 2, "is not the URL of a PostgreSQL database"),
        ("postgresql://me:s3cret@127.0.0.1:1/db?schema=A-B", 2, "which an index cannot have"),
        ("mysql://me:s3cret@127.0.0.1/db", 2, "An index cannot lie at a mysql:// address."),
    ],
)
def test_an_address_whose_password_is_never_printed(
    manuals: Path, citewell: Run, monkeypatch: pytest.MonkeyPatch, place: str, code: int, message: str
) -> None:
    monkeypatch.setenv("CITEWELL_INDEX", place)
    for command in (["status"], ["index", "manuals"], ["index", "manuals", "--watch"]):
        refused(citewell(*command), code, message)
        as_json = citewell(*command, "--json")
        assert "s3cret" not in as_json.out + as_json.err
        assert "s3cret" not in citewell(*command).err
    assert {path.name for path in Path().iterdir()} == {"manuals"}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["rollback"], "Say what to bring back"),
        (["rollback", "x", "--state", "y"], "Say what to bring back"),
        (["rollback", "--state", "y", "--to", "1"], "--to is the number of a document's version"),
        (["history", "x", "--name", "y"], "--name and --drop are of the whole index"),
    ],
)
def test_options_that_do_not_go_together(bank: Path, citewell: Run, command: list[str], message: str) -> None:
    refused(citewell(*command), 2, message)


def without_privileges(*arguments: str | Path) -> Ran:
    """Run the program as somebody whom permissions bind. Root stays root, but without the right to pass over them."""
    binding = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    return program(*arguments, before=binding)


def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    refused(without_privileges("index", closed, "--index", tmp_path / "x"), 3, f"{closed} may not be read.")
    assert not (tmp_path / "x").exists()


def test_a_closed_folder_among_others_is_listed(manuals: Path) -> None:
    (manuals / "closed").mkdir(mode=0o000)
    ran = without_privileges("index", "manuals", "--json")
    assert ran.code == 1
    assert [file["state"] for file in ran.json["files"]] == ["failed", *["added"] * 4]
    assert "cannot be read" in ran.json["files"][0]["reason"]


def test_an_index_that_may_not_be_written(manuals: Path) -> None:
    Path("closed").mkdir(mode=0o555)
    refused(without_privileges("index", "manuals", "--index", "closed/x"), 3, "cannot be written to")


def test_an_index_that_may_not_be_read(bank: Path, tmp_path: Path) -> None:
    index = Path(shutil.copytree(bank / ".citewell", tmp_path / "x"))
    index.chmod(0o000)
    refused(without_privileges("ask", "disputes", "--index", index), 3, "cannot be read")
    index.chmod(0o700)


def test_settings_that_may_not_be_read(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").touch(mode=0o000)
    refused(without_privileges("ask", "x", "--settings", tmp_path / "s.toml"), 2, "s.toml cannot be read")
