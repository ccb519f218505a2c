"""What is refused before a route has it is told in our words: what, where, and what to do."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.serving.conftest import QUESTION
from tests.serving.served import Served

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "multipart/form-data; boundary=x"}
OF_LIBRARIES = re.compile(
    "Input should|Field required|Value error|JSON decode|Expecting|Extra inputs|(String|List|Value|Data) should"
    "|Unable to|error parsing|Not Found|Method Not Allowed|multipart\\.|Maximum number|exceeded|constrained|pydantic",
    re.IGNORECASE,
)
"""Words of the libraries that check requests."""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"question": QUESTION, "as_of": "soon"}, "body.as_of must be a day, written as 2026-01-31."),
        ({"question": QUESTION, "as_of": 7e300}, "body.as_of must be a day, written as 2026-01-31."),
        ({}, "body.question is missing."),
        ({"question": ""}, "body.question must not be empty."),
        ({"question": "x" * 20_001}, "body.question must have 20000 characters or fewer."),
        ({"question": QUESTION, "principal": "board"}, "body.principal is not known."),
        ({"question": QUESTION, "where": 7}, "body.where must be text, or must be an object."),
        ({"question": QUESTION, "groups": "board"}, "body.groups must be a list."),
        ({"question": QUESTION, "groups": ["a", 7]}, "body.groups.1 must be text."),
        ({"question": QUESTION, "turns": [{"answer": "x"}]}, "body.turns.0.question is missing."),
        (
            {"question": QUESTION, "turns": [{"question": "x"}], "conversation": "x"},
            "body: give turns or a conversation, not both.",
        ),
        ({"question": "\ud800"}, "body.question must be valid Unicode."),
        ([], "body must be an object."),
    ],
)
def test_a_wrong_value_is_told_with_its_place(read_only: Served, body: Any, message: str) -> None:
    answer = read_only.client("ann").post("/v1/ask", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"] == {
        "type": "RequestError",
        "message": message,
        "remedy": "The schema is at /openapi.json.",
    }


@pytest.mark.parametrize(
    ("content", "headers", "status", "message"),
    [
        (b"{", JSON, 422, "body is not valid JSON from character 2 on."),
        (b'{"question": x}', JSON, 422, "body is not valid JSON from character 14 on."),
        (b"", JSON, 422, "body is missing."),
        (b"\xff", JSON, 400, "The body cannot be read as what its Content-Type says."),
        (b"[" * 100_000, JSON, 400, "The body cannot be read as what its Content-Type says."),
        (b'{"question": "x"}', {"Content-Type": "text/plain"}, 422, "body must be an object."),
    ],
)
def test_a_body_that_is_none(
    read_only: Served, content: bytes, headers: dict[str, str], status: int, message: str
) -> None:
    answer = read_only.client("ann").post("/v1/ask", content=content, headers=headers)
    assert (answer.status_code, answer.json()["error"]["message"]) == (status, message)


def form_part(name: str, content: bytes, file: str = "") -> bytes:
    said = f'Content-Disposition: form-data; name="{name}"' + (f'; filename="{file}"' if file else "")
    return b"--x\r\n" + said.encode() + b"\r\n\r\n" + content + b"\r\n"


@pytest.mark.parametrize(
    ("content", "headers", "message"),
    [
        (b"", {"Content-Type": "multipart/form-data"}, "The Content-Type of the form has no boundary."),
        (
            b"--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n",
            FORM,
            "A part of the form has no name.",
        ),
        (form_part("files", b"a", "a.md") * 1_001 + b"--x--\r\n", FORM, "The form has more than 1,000 files."),
        (form_part("groups", b"a") * 1_001 + b"--x--\r\n", FORM, "The form has more than 1,000 fields."),
        (form_part("version", b"a" * 1_100_000) + b"--x--\r\n", FORM, "A field of the form has more than 1 MB."),
        (b"nonsense", FORM, "The body cannot be read as what its Content-Type says."),
    ],
)
def test_a_form_that_is_none(read_only: Served, content: bytes, headers: dict[str, str], message: str) -> None:
    answer = read_only.client("ann", "write").post("/v1/documents", content=content, headers=headers)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, message)


def test_no_word_of_a_library_comes_through(read_only: Served) -> None:
    ann, root = read_only.client("ann", "write"), read_only.client("root", "admin")
    document = ann.get("/v1/documents").json()["documents"][0]["document"]
    for answer in (
        ann.get("/v1/documents", params={"limit": "x", "offset": "-1", "as_of": "2026-13-01"}),
        ann.get(f"/v1/documents/{document}/text", params={"start": "1.5"}),
        ann.get("/v1/documents/" + "x" * 201),
        ann.get("/v1/nothing"),
        ann.put("/v1/ask"),
        ann.post("/v1/documents", data={"valid_from": "x", "trust": "much", "replace": "perhaps"}),
        ann.post("/v1/documents", files={"files": ("a.md", b"a")}, data={"language": "?"}),
        ann.post(
            "/v1/documents",
            files={"files": ("a.md", b"a")},
            data={"valid_from": "2026-02-01", "valid_to": "2026-01-01"},
        ),
        ann.patch(f"/v1/documents/{document}", json={"fields": {"Amount": 1, "b": "x\n"}, "title": ""}),
        ann.post("/v1/feedback", json={"turn": "", "thumb": "aside", "wrong": [0]}),
        ann.post("/v1/search", json={"query": "x", "k": "many"}),
        ann.post("/v1/embeddings", json={"input": 7}),
        ann.post("/v1/rerank", json={"query": "x", "documents": "x", "top_n": 0}),
        ann.post("/v1/chat/completions", json={"messages": [{"role": "wizard"}]}),
        root.post("/v1/evaluations", json={"questions": [{"question": ""}], "judge": "x"}),
        root.post("/v1/evaluations", json={"questions": [{"question": "x"}], "settings": {"retrieval": {"keep": 0}}}),
        root.post("/v1/comparisons", json={"testset": "../x", "settings": []}),
    ):
        assert answer.status_code in (400, 404, 405, 422), answer.text
        error = answer.json()["error"]
        assert not OF_LIBRARIES.search(error["message"] + error.get("remedy", "")), error
