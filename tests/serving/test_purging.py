"""What is purged over HTTP is in no file any more: not of the index, not of the service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from citewell.serving.app import create_app
from tests.cli.conftest import program
from tests.serving.conftest import QUESTION, settings_at
from tests.serving.served import Served, finished, serving, uploaded

SENTENCE = "The branch in Northmoor will be sold in May for nine million crowns."
PLANS = f"# Plans\n\n{SENTENCE}\n"
WHEN = "When will the branch in Northmoor be sold?"
NAMES = (b"Northmoor will be sold", b"nine million crowns")


def holding(*folders: Path) -> set[str]:
    """The files that have a word of the sentence."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path.name for path in files if any(name in path.read_bytes() for name in NAMES)}


def fill(served: Served) -> str:
    """A document with two versions, that a conversation and an evaluation show; its id."""
    ann, root = served.client("ann", "write", "board"), served.client("root", "admin")
    uploaded(ann, "plans.md", PLANS.replace("May", "June"), groups="board")
    document: str = uploaded(ann, "plans.md", PLANS, replace="true")["result"]["files"][0]["document"]
    for question in (QUESTION, WHEN):
        talk = ann.post("/v1/conversations").json()["conversation"]
        assert ann.post("/v1/ask", json={"question": question, "conversation": talk}).json()["turn"]
    asked = {"question": WHEN, "must_contain": ["May"], "groups": ["board"]}
    job = finished(root, root.post("/v1/evaluations", json={"questions": [asked]}).json()["job"])
    assert SENTENCE in job["result"]["questions"][0]["answer"]["text"]
    return document


def test_nothing_of_a_purged_document_is_left(index_copy: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with serving(create_app(index_copy, settings_at(tmp_path))) as served:
        document = fill(served)
        ann, root = served.client("ann", "write", "board"), served.client("root", "admin")
        assert {"plans.md", "service.sqlite3"} & holding(state)
        assert holding(index_copy)
        gone = root.delete(f"/v1/documents/{document}", params={"purge": "true"}).json()
        assert (gone["purged"], gone["kept_until"], gone["turns"]) == (True, None, 1)
        assert [each["versions"] for each in gone["removed"]] == [[1, 2]]
        assert holding(index_copy, state) == set()
        (talk,) = ann.get("/v1/conversations").json()["conversations"]
        assert talk["title"] == QUESTION  # about something else
        kept = root.post("/v1/evaluations", json={"questions": [{"question": QUESTION}]}).json()["job"]
        again = root.delete("/v1/documents/0123456789abcdef", params={"purge": "true"})
        assert again.status_code == 404
        assert finished(root, kept)["state"] == "done"  # what is not there takes nothing with it
        assert [job["kind"] for job in root.get("/v1/jobs").json()["jobs"]] == ["evaluation", "upload", "upload"]
        assert ann.get(f"/v1/documents/{document}").status_code == 404
        again = root.delete(f"/v1/documents/{document}", params={"purge": "true"})
        assert (again.status_code, again.json()["error"]["type"]) == (404, "UnknownId")
        assert '"action": "purge"' in (state / "audit.jsonl").read_text()
    assert holding(index_copy, state) == set()


def test_what_was_deleted_before_is_purged_too(index_copy: Path, tmp_path: Path) -> None:
    with serving(create_app(index_copy, settings_at(tmp_path))) as served:
        document, root = fill(served), served.client("root", "admin")
        assert root.delete(f"/v1/documents/{document}").json()["purged"] is False
        assert holding(index_copy)
        assert root.delete(f"/v1/documents/{document}", params={"purge": "true"}).json()["turns"] == 1
        assert holding(index_copy, tmp_path / "state") == set()


def test_the_command_leaves_nothing_in_the_service(index_copy: Path, tmp_path: Path) -> None:
    with serving(create_app(index_copy, settings_at(tmp_path))) as served:
        document = fill(served)
    toml = tmp_path / "citewell.toml"
    toml.write_text(f'[service]\nstate = "{tmp_path / "state"}"\n')
    ran = program("purge", document, "--yes", "--index", index_copy, "--settings", toml, "--json")
    assert (ran.code, ran.json["turns"]) == (0, 1)
    assert holding(index_copy, tmp_path / "state") == {"plans.md"}  # its file, where it was uploaded to


def test_only_an_admin_purges_and_no_path_is_a_name(own: Served) -> None:
    ann, root = own.client("ann", "write"), own.client("root", "admin")
    document = uploaded(ann, "fees.md", "# Fees\n\nNine euros.\n")["result"]["files"][0]["document"]
    for name in (document, "0123456789abcdef"):
        refused = ann.delete(f"/v1/documents/{name}", params={"purge": "true"})
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "Forbidden")
    path = str(own.folder("ann") / "fees.md").replace("/", "%2F")
    assert root.delete(f"/v1/documents/{path}", params={"purge": "true"}).status_code == 404
    assert ann.get(f"/v1/documents/{document}").status_code == 200


def test_an_evaluation_that_runs_keeps_nothing(
    index_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from citewell.serving.runner import Running

    with serving(create_app(index_copy, settings_at(tmp_path))) as served:
        document, root = fill(served), served.client("root", "admin")
        keep = Running.keep

        def purged_before(running: Running, result: Any) -> None:
            assert root.delete(f"/v1/documents/{document}", params={"purge": "true"}).status_code == 200
            keep(running, result)

        monkeypatch.setattr(Running, "keep", purged_before)
        asked = {"question": WHEN, "groups": ["board"]}
        job = root.post("/v1/evaluations", json={"questions": [asked]}).json()["job"]
        while root.get(f"/v1/jobs/{job}").status_code == 200:
            assert re.fullmatch("queued|running", root.get(f"/v1/jobs/{job}").json().get("state", "queued"))
        while served.service.jobs.are_open():
            pass
    assert holding(index_copy, tmp_path / "state") == set()
