"""What a caller may not read looks just like what does not exist: status, body and headers, on every route."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from citewell.serving.app import create_app
from tests.serving.conftest import FILES, settings_at
from tests.serving.served import Served, events, finished, serving, uploaded

CHANGING = re.compile(r'"(ms|seconds|indexed_at|created|started|ended)":("[^"]*"|[0-9.e+-]+|null)')
OF_THE_REQUEST = ("date", "x-request-id")
ASK = {"question": "What is the code word?"}
BODIES = {"retag": {"version": "2"}, "rename": {"name": "x"}}
LENGTH = "content-length"
"""Of a body with times in it, which have more digits or fewer. It is compared by the body."""


def seen(answer: httpx.Response, asked: str) -> tuple[int, str, list[tuple[str, str]]]:
    """All that a client sees, without times and the words of its own request."""
    headers = [(name, value.replace(asked, "IT")) for name, value in answer.headers.multi_items()]
    assert answer.headers.get(LENGTH, str(len(answer.content))) == str(len(answer.content))
    return (
        answer.status_code,
        CHANGING.sub(r'"\1":T', answer.text.replace(asked, "IT")),
        [(name, value) for name, value in headers if name not in (*OF_THE_REQUEST, LENGTH)],
    )


@contextmanager
def with_a_boards_upload(built: Path, folder: Path) -> Iterator[Served]:
    """With an upload of one who is in the board, for the board."""
    import shutil

    shutil.copytree(built / "index", folder / "index")
    with serving(create_app(folder / "index", settings_at(folder))) as served:
        member = served.client("member", "write", "board")
        job = uploaded(member, "plans.md", "# Plans\n\nThe branch in Northmoor will be sold in May.\n", groups="board")
        assert job["state"] == "done"
        yield served


@pytest.fixture(scope="module")
def shared(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """For tests that leave it as it is."""
    with with_a_boards_upload(built, tmp_path_factory.mktemp("leaks")) as served:
        yield served


@pytest.fixture
def own(built: Path, tmp_path: Path) -> Iterator[Served]:
    """For one that uploads."""
    with with_a_boards_upload(built, tmp_path) as served:
        yield served


def hidden(served: Served) -> dict[str, str]:
    """Ids of what the board may read, by name."""
    listed = served.client("member", "write").get("/v1/documents").json()["documents"]
    return {each["source"].rpartition("/")[2]: each["document"] for each in listed if each["groups"] == ["board"]}


def requests(served: Served, name: str) -> list[tuple[str, str, dict[str, Any]]]:
    """A request of every route of the schema that takes the id of a document or a job, with `name` in its place."""
    made = []
    for path, methods in served.client().get("/openapi.json").json()["paths"].items():
        if "{" not in path:
            continue
        for method, said in methods.items():
            body: dict[str, Any] = {"json": BODIES[said["operationId"]]} if "requestBody" in said else {}
            queries: list[dict[str, Any]] = [{}]
            known = {each["name"] for each in said.get("parameters", ()) if each["in"] == "query"}
            queries += [{"as_of": "2026-01-01"}] if "as_of" in known else []
            queries += [{"groups": "everyone"}] if "groups" in known else []
            queries += [{"purge": "true"}] if "purge" in known else []
            for query in queries:
                made.append((method, re.sub(r"\{\w+\}", quote(name, safe=""), path), {**body, "params": query}))
    assert len(made) >= 8
    return made


@pytest.mark.parametrize("scope", ["read", "write"])
def test_no_route_tells_an_id_that_exists_from_one_that_does_not(shared: Served, scope: str) -> None:
    stranger = shared.client(f"stranger-{scope}", scope, "fraud_team")
    documents = hidden(shared)
    assert documents.keys() == {"vault.md", "plans.md"}
    job = shared.client("member", "write").get("/v1/jobs").json()["jobs"][0]["job"]
    chunk = shared.client("member", "write").post("/v1/search", json={"query": "vault"}).json()["hits"][0]["chunk"]
    member = shared.client("member", "write")
    conversation = member.post("/v1/conversations").json()["conversation"]
    turn = member.post("/v1/ask", json={"question": "Code word?", "conversation": conversation}).json()["turn"]
    for real in (*documents.values(), job, _evaluation(shared), chunk, conversation, turn):
        made_up = "0123456789abcdef" + real[16:]
        for told in (
            [seen(stranger.post("/v1/feedback", json={"turn": name}), name) for name in (real, made_up)],
            [seen(stranger.post("/v1/ask", json={**ASK, "conversation": name}), name) for name in (real, made_up)],
        ):
            assert told[0] == told[1]
            assert told[0][0] == 404
        for (method, path, given), (_, other, _) in zip(requests(shared, real), requests(shared, made_up), strict=True):
            of_real = seen(stranger.request(method, path, **given), real)
            of_made_up = seen(stranger.request(method, other, **given), made_up)
            assert of_real == of_made_up, (method, path)
            assert of_real[0] in (403, 404), (method, path)
    assert hidden(shared) == documents


def _evaluation(served: Served) -> str:
    """A job of an admin's, whose result shows what the board may read."""
    root = served.client("root", "admin")
    asked = {"question": ASK["question"], "groups": ["board"]}
    job: str = root.post("/v1/evaluations", json={"questions": [asked]}).json()["job"]
    assert "Meadow" in str(finished(root, job)["result"])
    return job


def test_no_path_of_the_server_is_a_name_of_a_document(shared: Served, built: Path) -> None:
    stranger = shared.client("stranger-read", "read", "fraud_team")
    for name in ("disputes.md", "vault.md", "nothing.md"):
        path = str(built / "files" / name)
        for asked in (path, f"file://{path}", path.replace("/", "%2F")):
            answer = stranger.get(f"/v1/documents/{asked.lstrip('/')}")
            assert answer.status_code == 404, asked


@pytest.mark.parametrize(
    ("real", "made_up"),
    [
        ('title = "Code word"', 'title = "Fode word"'),
        ('source contains "vault"', 'source contains "fault"'),
        ('title contains "Pla" or title = "x"', 'title contains "Plz" or title = "x"'),
    ],
)
def test_no_filter_does(shared: Served, real: str, made_up: str) -> None:
    stranger = shared.client("stranger-read", "read", "fraud_team")
    words = {"query": "what is the code word", "question": "What is the code word?"}
    for path, key in (("/v1/search", "query"), ("/v1/ask", "question")):
        answers = [stranger.post(path, json={key: words[key], "where": where}) for where in (real, made_up)]
        assert seen(answers[0], real) == seen(answers[1], made_up)
        assert answers[0].json()["hits"] == []
    streams = [
        stranger.post("/v1/ask", json={"question": "What?", "where": where, "stream": True})
        for where in (real, made_up)
    ]
    assert seen(streams[0], real) == seen(streams[1], made_up)
    assert events(streams[0].text)[-1][1]["abstained"]
    listed = [stranger.get("/v1/documents", params={"where": where}) for where in (real, made_up)]
    assert seen(listed[0], real) == seen(listed[1], made_up)
    assert listed[0].json()["total"] == 0


def test_no_list_counts_what_is_for_others(shared: Served) -> None:
    stranger = shared.client("stranger-read", "read", "fraud_team")
    listed = stranger.get("/v1/documents", params={"limit": 1}).json()
    assert (listed["total"], len(listed["documents"])) == (2, 1)
    assert stranger.get("/v1/jobs").json()["jobs"] == []


def test_an_upload_of_the_name_of_anothers_is_as_any(own: Served) -> None:
    writer = own.client("stranger-write", "write", "fraud_team")
    for name in ("plans.md", "clans.md"):
        job = uploaded(writer, name, f"# {name}\n\nOther plans.\n")
        assert [file["state"] for file in job["result"]["files"]] == ["added"]
    member = own.client("member", "write")
    titles = [each["title"] for each in member.get("/v1/documents").json()["documents"]]
    assert "Plans" in titles


def test_no_upload_is_told_that_others_have_the_same_text(own: Served) -> None:
    """What has a vector already is not embedded again."""
    writer = own.client("stranger-write", "write", "fraud_team")
    hash_of = re.compile(r"[0-9a-f]{16}")
    told = [
        hash_of.sub("ID", CHANGING.sub("", str(uploaded(writer, name, text)["result"])).replace(name, "IT"))
        for name, text in (("same.md", FILES["vault.md"]), ("else.md", FILES["vault.md"].replace("Meadow", "Mellow")))
    ]
    assert told[0] == told[1]


def test_no_upload_is_told_what_has_expired_elsewhere(built: Path, tmp_path: Path) -> None:
    """A run of indexing ends what has expired in the whole index, and reports it."""
    import shutil

    from tests.clock import at

    shutil.copytree(built / "index", tmp_path / "index")
    with serving(create_app(tmp_path / "index", settings_at(tmp_path))) as served:
        member, writer = served.client("member", "write", "board"), served.client("ann", "write")
        soon = (datetime.now(UTC) + timedelta(days=2)).date()
        gone = uploaded(member, "offer.md", "# Offer\n\nA secret offer.\n", groups="board", expires=str(soon))
        assert gone["state"] == "done"
        with at(datetime.now(UTC) + timedelta(days=3)):
            job = uploaded(writer, "news.md", "# News\n\nThe branch has moved.\n")
        assert job["state"] == "done"
        assert "offer" not in str(job)
        titles = [each["title"] for each in member.get("/v1/documents").json()["documents"]]
        assert "Offer" not in titles


def test_no_fault_of_the_server_tells_where_things_are(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    from citewell.errors import IndexFormatError

    def damaged(*_: object, **__: object) -> None:
        raise IndexFormatError("/srv/secret/index is damaged.", remedy="Look at /srv/secret.")

    monkeypatch.setattr(shared.service.index, "search", damaged)
    told = shared.client("stranger-read", "read", "fraud_team").post("/v1/search", json={"query": "x"})
    assert (told.status_code, told.json()["error"]["type"]) == (503, "IndexFormatError")
    assert "/srv" not in told.text
    assert "/srv/secret" in shared.client("root", "admin").post("/v1/search", json={"query": "x"}).text


def test_nothing_of_documents_or_keys_is_in_the_audit_log_or_the_metrics(shared: Served) -> None:
    member = shared.client("member", "write")
    for document in hidden(shared).values():
        for end in ("", "/text", "/file"):
            member.get(f"/v1/documents/{document}{end}")
    member.post("/v1/ask", json={"question": "What is the code word?"})
    log = (shared.service.state.folder / "audit.jsonl").read_text()
    key = member.headers["Authorization"].removeprefix("Bearer ")
    assert "What is the code word?" in log
    assert hidden(shared)["vault.md"] in log
    assert '"key:member"' in log
    assert "Meadow" not in log
    assert key not in log
    numbers = shared.client("root", "admin").get("/metrics").text
    assert "/v1/documents/{document_id}/text" in numbers
    for word in ("Meadow", "code word", "member", key, *hidden(shared).values(), *FILES):
        assert word not in numbers
