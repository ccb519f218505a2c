"""What an admin has said of a document holds: nobody undoes it by having asked before, or by sending the file again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from tests.serving.served import Served, finished, uploaded

PLAN = "# Plan\n\nThe branch in Northmoor will be sold in May.\n"
SOON_S = 30


def while_others_write(served: Served, *requests: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """The answers to requests of which each waits for its turn behind those before it."""
    answers: dict[int, httpx.Response] = {}
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        go.wait(SOON_S)

    def ask(number: int) -> None:
        answers[number] = requests[number]()

    threads = [threading.Thread(target=served.service.turns.write, args=(hold, SOON_S))]
    threads[0].start()
    assert held.wait(SOON_S)
    for number in range(len(requests)):
        threads.append(threading.Thread(target=ask, args=(number,)))
        threads[-1].start()
        until = time.monotonic() + 0.7  # to be in front of the next one
        while time.monotonic() < until:
            held.wait(0.05)
            time.sleep(0.05)
    go.set()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(requests))]


def document_of(job: dict[str, Any]) -> str:
    assert job["state"] == "done", job
    document: str = job["result"]["files"][0]["document"]
    return document


@pytest.mark.parametrize("change", ["retag", "delete"])
def test_who_may_no_more_when_it_is_their_turn_changes_nothing(own: Served, change: str) -> None:
    ann, root = own.client("ann", "write"), own.client("root", "admin", "board")
    path = f"/v1/documents/{document_of(uploaded(ann, 'plan.md', PLAN))}"
    second = (lambda: ann.delete(path)) if change == "delete" else lambda: ann.patch(path, json={"title": "Mine"})
    narrowed, late = while_others_write(own, lambda: root.patch(path, json={"groups": ["board"]}), second)
    assert narrowed.json()["now"]["groups"] == ["board"]
    assert (late.status_code, late.json()["error"]["type"]) == (404, "UnknownId")
    facts = root.get(path).json()
    assert (facts["groups"], facts["title"]) == (["board"], "Plan")


def test_two_changes_at_once_are_both_kept(own: Served) -> None:
    ann, root = own.client("ann", "write", "board"), own.client("root", "admin", "board")
    path = f"/v1/documents/{document_of(uploaded(ann, 'plan.md', PLAN))}"
    while_others_write(
        own,
        lambda: root.patch(path, json={"groups": ["board"], "trust": "untrusted"}),
        lambda: ann.patch(path, json={"title": "Mine"}),
    )
    facts = root.get(path).json()
    assert (facts["groups"], facts["trust"], facts["title"]) == (["board"], "untrusted", "Mine")


def test_a_change_that_has_to_wait_is_told_once(own: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from citewell.errors import IndexLocked
    from citewell.serving import uploads

    retag, tries = uploads.retag, list[int]()

    def locked_at_first(*given: Any) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise IndexLocked("Another program writes.", remedy="Wait.")
        retag(*given)

    ann = own.client("ann", "write")
    document = document_of(uploaded(ann, "plan.md", PLAN))
    monkeypatch.setattr(uploads, "retag", locked_at_first)
    assert ann.patch(f"/v1/documents/{document}", json={"title": "Mine"}).status_code == 200
    lines = (own.service.state.folder / "audit.jsonl").read_text().splitlines()
    assert len(tries) == 3
    assert len([line for line in lines if '"retag"' in line and document in line]) == 1


def test_of_two_uploads_of_one_name_the_second_replaces_nothing(own: Served) -> None:
    ann = own.client("ann", "write")
    sent = [[("files", ("plan.md", text))] for text in (PLAN, "# Plan\n\nAnother text.\n")]
    jobs = while_others_write(own, *(lambda files=files: ann.post("/v1/documents", files=files) for files in sent))
    first, second = (finished(ann, answer.json()["job"]) for answer in jobs)
    assert (second["state"], second["error"]["type"]) == ("failed", "Conflict")
    assert "Northmoor" in ann.get(f"/v1/documents/{document_of(first)}/text").json()["text"]


def test_of_files_that_go_together_those_before_a_refused_one_are_taken(own: Served) -> None:
    ann = own.client("ann", "write")
    first = [("files", ("plan.md", PLAN))]
    names = ("before.md", "plan.md", "after.md")
    second = [("files", (name, f"# {name}\n\nText of {name}.\n")) for name in names]
    jobs = while_others_write(
        own, *(lambda files=files: ann.post("/v1/documents", files=files) for files in (first, second))
    )
    _, job = (finished(ann, answer.json()["job"]) for answer in jobs)
    assert (job["state"], job["error"]["type"]) == ("failed", "Conflict")
    assert [file["name"] for file in job["result"]["files"]] == ["before.md"]
    assert {path.name for path in own.folder("ann").iterdir()} == {"before.md", "plan.md"}


def test_who_replaces_a_file_does_not_raise_the_trust_in_it(own: Served) -> None:
    ann, root = own.client("ann", "write"), own.client("root", "admin")
    path = f"/v1/documents/{document_of(uploaded(ann, 'plan.md', PLAN))}"
    files, form = [("files", ("plan.md", PLAN))], {"replace": "true", "trust": "unreviewed"}
    lowered, late = while_others_write(
        own,
        lambda: root.patch(path, json={"trust": "untrusted"}),
        lambda: ann.post("/v1/documents", files=files, data=form),
    )
    assert lowered.status_code == 200
    assert finished(ann, late.json()["job"])["error"]["type"] == "Forbidden"
    again = ann.post("/v1/documents", files=files, data=form)
    assert (again.status_code, again.json()["error"]["type"]) == (403, "Forbidden")
    assert document_of(uploaded(ann, "plan.md", f"{PLAN}\nMore.\n", replace="true"))
    assert ann.get(path).json()["trust"] == "untrusted"
    assert document_of(uploaded(root, "plan.md", PLAN, trust="approved"))  # of the admin's own


def test_who_may_not_read_a_file_of_theirs_any_more_does_not_replace_it(own: Served) -> None:
    ann, root = own.client("ann", "write"), own.client("root", "admin", "board")
    path = f"/v1/documents/{document_of(uploaded(ann, 'plan.md', PLAN))}"
    files = [("files", ("plan.md", "# Plan\n\nAnother text.\n"))]
    forms: list[dict[str, str]] = [{"replace": "true", "groups": "everyone"}, {"replace": "true"}]
    for form in forms:
        root.patch(path, json={"groups": ["everyone"]})
        _, late = while_others_write(
            own,
            lambda: root.patch(path, json={"groups": ["board"]}),
            partial(ann.post, "/v1/documents", files=files, data=form),
        )
        job = finished(ann, late.json()["job"])
        assert (job["state"], job["error"]["type"], job["result"]) == ("failed", "Conflict", None)
        again = ann.post("/v1/documents", files=files, data=form)
        assert (again.status_code, again.json()["error"]["type"]) == (409, "Conflict")
        assert "board" not in again.text
    facts = root.get(path).json()
    assert (facts["groups"], facts["number"]) == (["board"], 1)


def test_who_replaces_a_file_does_not_show_it_to_more(own: Served) -> None:
    ann = own.client("ann", "write", "board", "fraud_team")
    path = f"/v1/documents/{document_of(uploaded(ann, 'plan.md', PLAN, groups=['board', 'fraud_team']))}"
    files = [("files", ("plan.md", PLAN))]
    for groups in ("everyone", ["board", "everyone"]):
        answer = ann.post("/v1/documents", files=files, data={"replace": "true", "groups": groups})
        assert (answer.status_code, answer.json()["error"]["type"]) == (409, "Conflict")
    assert document_of(uploaded(ann, "plan.md", f"{PLAN}\nMore.\n", replace="true", groups="board"))
    assert ann.get(path).json()["groups"] == ["board"]


def test_a_key_of_the_group_everyone_changes_no_public_document(own: Served) -> None:
    mallory = own.client("mallory", "write", "everyone")
    public = next(each for each in mallory.get("/v1/documents").json()["documents"] if each["title"] == "Disputes")
    for answer in (
        mallory.delete(f"/v1/documents/{public['document']}"),
        mallory.patch(f"/v1/documents/{public['document']}", json={"version": "2"}),
    ):
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "Forbidden")
