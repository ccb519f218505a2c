"""`history`, `rollback`, `delete` and `purge`: what was, what comes back, and what is gone."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Run
from tests.clock import at

QUESTION = "How many days does a customer have to dispute a card payment?"
VERSION_KEYS = [
    *("document", "number", "source", "title", "document_version", "content_hash", "groups", "indexed_at"),
    *("valid_from", "valid_to", "in_force_from", "in_force_to", "current", "searchable", "ended_at", "ending"),
    "kept_until",
]


@pytest.fixture
def revised(manuals: Path, citewell: Run) -> Path:
    """The manual of 2026 in its second version, indexed a month after the first."""
    with at(datetime(2026, 1, 10, 9, 5, tzinfo=UTC)):
        citewell("index", "manuals")
        citewell("history", "--name", "before")
    rewrite(manuals / "manual-2026.md", "120 days", "100 days")
    (manuals / "citewell-access.toml").unlink()
    with at(datetime(2026, 2, 10, 9, 5, tzinfo=UTC)):
        citewell("index", "manuals")
    return manuals


def rewrite(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))


def table(ran: Ran) -> list[list[str]]:
    assert (ran.code, ran.err) == (0, "")
    return [re.split(r"\s{2,}", line.strip()) for line in ran.out.splitlines()]


def test_a_documents_versions(revised: Path, citewell: Run) -> None:
    title, source, head, first, second = table(citewell("history", "manuals/manual-2026.md"))
    assert (title, source) == (["Fraud Policy Manual 2026"], ["manuals/manual-2026.md"])
    assert head == ["version", "indexed", "in force", "state", "readable by"]
    assert first[2:] == ["2026-01-10 09:05 UTC", "from 2026-01-01 until 2026-02-09", "past", "everyone"]
    assert second[2:] == ["2026-02-10 09:05 UTC", "from 2026-02-10", "current", "everyone"]
    assert "120 days" in citewell("ask", QUESTION, "--as-of", "2026-02-01").out
    assert "100 days" in citewell("ask", QUESTION, "--as-of", "2026-02-10").out


def test_versions_as_json(revised: Path, citewell: Run) -> None:
    shape = citewell("history", "manuals/manual-2026.md", "--json").json
    assert list(shape) == ["version", "versions"]
    assert all(list(version) == VERSION_KEYS for version in shape["versions"])
    first, second = shape["versions"]
    assert (first["number"], first["current"], first["searchable"], first["ending"]) == (1, False, True, "replaced")
    assert (first["in_force_to"], first["kept_until"]) == ("2026-02-09", None)
    assert (second["current"], second["ended_at"], second["ending"]) == (True, None, None)
    assert citewell("history", first["document"], "--json").json == shape
    assert citewell("history", "manuals/nothing.md").code == 2


def test_back_to_a_version(revised: Path, citewell: Run) -> None:
    ran = citewell("rollback", "manuals/manual-2026.md")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "manuals/manual-2026.md is as in version 1 again, now as version 3.\n"
        "Readable by everyone. What its file holds now is taken in when the file changes.\n"
    )
    assert "120 days" in citewell("ask", QUESTION).out
    shape = citewell("rollback", "manuals/manual-2026.md", "--to", "2", "--json").json
    assert list(shape) == ["version", "restored", "now", "with_it"]
    assert shape["with_it"] == []
    assert (shape["restored"], shape["now"]["number"], shape["now"]["current"]) == (2, 4, True)
    assert "100 days" in citewell("ask", QUESTION).out
    unknown = citewell("rollback", "manuals/manual-2026.md", "--to", "9")
    assert unknown.code == 2
    assert unknown.err.splitlines() == [
        "citewell: 'manuals/manual-2026.md' has no earlier version 9.",
        "  Versions that can be brought back: 1, 2, 3.",
    ]


def test_back_to_a_named_state(revised: Path, citewell: Run) -> None:
    (revised / "new.md").write_text("# Cheques\n\nCheques are no longer accepted.\n")
    (revised / "letter.md").unlink()
    citewell("index", "manuals")
    ran = citewell("rollback", "--state", "before")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "updated  manuals/letter.md: It is as in version 1.",
        "updated  manuals/manual-2026.md: It is as in version 1.",
        "removed  manuals/new.md: It came later.",
        "The index is as it was in the state before.",
    ]
    assert "120 days" in citewell("ask", QUESTION).out
    assert "ferry" in citewell("search", "umbrella stolen on the ferry").out
    again = citewell("rollback", "--state", "before", "--json").json
    assert again == {"version": 1, "state": "before", "files": []}
    assert citewell("rollback", "--state", "before").out == "Nothing has changed since the state before.\n"
    assert citewell("rollback", "--state", "after").err.splitlines() == [
        "citewell: There is no state named 'after'.",
        "  Named states: before.",
    ]


def test_states_and_what_was_deleted(revised: Path, citewell: Run) -> None:
    assert table(citewell("history")) == [["state", "named"], ["before", "2026-01-10 09:05 UTC"]]
    with at(datetime(2026, 2, 11, tzinfo=UTC)):
        document = citewell("delete", "manuals/letter.md", "--json").json["removed"][0]["document"]
    assert table(citewell("history"))[2:] == [
        [""],
        ["document", "id", "state"],
        ["manuals/letter.md", document, "deleted, kept until 2026-03-13"],
    ]
    shape = citewell("history", "--json").json
    assert list(shape) == ["version", "states", "deleted"]
    assert shape["states"] == [{"name": "before", "at": "2026-01-10T09:05:00+00:00"}]
    assert [(each["document"], each["kept_until"]) for each in shape["deleted"]] == [(document, "2026-03-13")]

    named = citewell("history", "--name", "after", "--json").json
    assert list(named) == ["version", "state"]
    assert named["state"]["name"] == "after"
    assert re.fullmatch(
        r"The index as it was at .* UTC is called later\.\n", citewell("history", "--name", "later").out
    )
    assert citewell("history", "--name", "later").code == 2
    assert re.fullmatch(
        r"The index as it was at .* UTC is no longer called later\.\n", citewell("history", "--drop", "later").out
    )
    assert citewell("history", "--drop", "after", "--json").json == named
    assert [state["name"] for state in citewell("history", "--json").json["states"]] == ["before"]
    assert citewell("history", "--drop", "after").err.splitlines() == [
        "citewell: There is no state named 'after'.",
        "  Named states: before.",
    ]
    assert citewell("history", "--drop", "before", "--name", "after").code == 2


def test_an_index_without_a_past(bank: Path, citewell: Run) -> None:
    assert citewell("history").out == "No state has a name, and nothing deleted is kept.\n"


def test_a_deletions_receipt_and_the_way_back(revised: Path, citewell: Run) -> None:
    with at(datetime(2026, 2, 11, tzinfo=UTC)):
        ran = citewell("delete", "manuals/manual-2026.md")
    head, removed, total, way = table(ran)
    assert head == ["document", "versions", "texts", "chunks", "dense", "keyword", "kept versions", "chunk entries"]
    assert removed == ["manuals/manual-2026.md", "1, 2", "2", "4", "4", "4", "0", "4"]
    assert total == ["Deleted 1 document."]
    document = citewell("history", "--json").json["deleted"][0]["document"]
    assert way == [f"Until 2026-03-13 `citewell rollback {document}` brings it back."]
    assert (revised / "manual-2026.md").exists()
    assert "Manual 2026" not in citewell("search", QUESTION, "--as-of", "2026-02-01").out
    assert citewell("rollback", document).code == 0
    assert "100 days" in citewell("ask", QUESTION).out


def test_a_folder_is_deleted_with_all_below_it(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    ran = citewell("delete", "manuals")
    assert [line.split()[0] for line in ran.out.splitlines()[1:5]] == [
        f"manuals/{name}" for name in ("letter.md", "manual-2025.md", "manual-2026.md", "scoring.md")
    ]
    assert ran.out.splitlines()[5] == "Deleted 4 documents."
    assert re.fullmatch(
        r"Until \S+ `citewell rollback manuals` brings them back, and `citewell history` lists them.",
        ran.out.splitlines()[-1],
    )
    assert citewell("documents").out == "No documents.\n"


def test_a_folder_is_brought_back_with_all_below_it(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    citewell("delete", "manuals")
    back = citewell("rollback", "manuals")
    assert (back.code, back.err) == (0, "")
    assert back.out.splitlines() == [
        *(
            f"manuals/{name}.md is back, as version 2. Readable by {'fraud_team' if name == 'scoring' else 'everyone'}."
            for name in ("letter", "manual-2025", "manual-2026", "scoring")
        ),
        "Brought back 4 documents.",
    ]
    assert citewell("rollback", "manuals").code == 2
    citewell("delete", "manuals")
    shape = citewell("rollback", "manuals", "--json").json
    assert (shape["restored"], shape["now"], len(shape["with_it"])) == (None, None, 4)
    assert all(list(version) == VERSION_KEYS for version in shape["with_it"])


def test_a_mail_is_brought_back_with_its_attachments(tmp_path: Path, manuals: Path, citewell: Run) -> None:
    mail = EmailMessage()
    mail["Subject"] = "Fees"
    mail.set_content("The fees are attached.")
    mail.add_attachment("# Fees\n\nAn account costs three dollars.\n", subtype="markdown", filename="fees.md")
    (manuals / "fees.eml").write_bytes(mail.as_bytes())
    citewell("index", "manuals")
    citewell("delete", "manuals/fees.eml")
    assert citewell("rollback", "manuals/fees.eml").out.splitlines() == [
        "manuals/fees.eml!/fees.md is back, as version 2. Readable by everyone.",
        "manuals/fees.eml is as in version 1 again, now as version 2.",
        "Readable by everyone. What its file holds now is taken in when the file changes.",
    ]


def test_a_receipt_as_json(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    document = citewell("show", "manuals/letter.md", "--json").json["document"]
    source = (manuals / "letter.md").as_uri()
    parts = {"texts": 1, "chunks": 1, "dense": 1, "keyword": 1, "kept versions": 0, "chunk entries": 1}
    removed = [{"document": document, "source": source, "versions": [1], "parts": parts}]
    with at(datetime(2027, 1, 1, tzinfo=UTC)):
        assert citewell("delete", document, "--json").json == {
            "version": 1,
            "deleted": source,
            "purged": False,
            "kept_until": "2027-01-31",
            "removed": removed,
        }
    again = citewell("delete", document, "--json")
    assert again.code == 2
    assert again.json["error"]["kind"] == "UnknownId"
    purged = citewell("purge", document, "--yes", "--json").json
    assert (purged["purged"], purged["kept_until"]) == (True, None)
    assert citewell("history", document).code == 2


def test_nothing_is_kept_where_the_settings_say_so(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    Path("citewell.toml").write_text("[storage]\nkeep_deleted_days = 0\n")
    ran = citewell("delete", "manuals/letter.md")
    assert ran.out.splitlines()[-1] == "Nothing of it is kept: keep_deleted_days is 0 in [storage]."
    assert citewell("rollback", "manuals/letter.md").code == 2


def test_a_purge_is_not_done_unasked(manuals: Path, citewell: Run) -> None:
    citewell("index", "manuals")
    unasked = citewell("purge", "manuals/letter.md")
    assert unasked.code == 2
    assert "cannot be undone" in unasked.err
    assert citewell("status", "--json").json["documents"] == 4
    ran = citewell("purge", "manuals/letter.md", "--yes")
    assert ran.out.splitlines()[1].split()[0] == "manuals/letter.md"
    assert ran.out.splitlines()[2] == "Purged 1 document."
    assert not any(b"umbrella" in path.read_bytes() for path in Path(".citewell").rglob("*") if path.is_file())


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"\x04", 1), (b"Yes\n", 0)])
def test_a_purge_asks_who_sits_at_the_terminal(manuals: Path, citewell: Run, answer: bytes, code: int) -> None:
    citewell("index", "manuals")
    keyboard, terminal = pty.openpty()
    os.write(keyboard, answer)
    command = [sys.executable, "-m", "citewell", "purge", "manuals/letter.md"]
    done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, check=False)
    os.close(terminal)
    os.close(keyboard)
    assert done.returncode == code
    assert "Remove every version of manuals/letter.md for good? This cannot be undone. [y/N] " in done.stderr
    assert ("nothing was purged" in done.stderr) == (code == 1)
    assert citewell("status", "--json").json["documents"] == 4 - (code == 0)
