"""Parts of a document's file: which bytes come, of which file, and who gets none."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass

import httpx
import pytest

from tests.serving.served import Served, uploaded


def packed(text: str) -> bytes:
    """An archive: many bytes, of which few are indexed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("rates.md", text)
        archive.writestr("noise.bin", bytes(range(256)) * 640)
    return file.getvalue()


CONTENT = packed("# Rates\n\nNine euros.\n")
SIZE = len(CONTENT)


@dataclass(frozen=True)
class Uploaded:
    client: httpx.Client
    document: str

    @property
    def path(self) -> str:
        return f"/v1/documents/{self.document}/file"

    def get(self, ranged: str | None = None, **more: str) -> httpx.Response:
        headers = {"Range": ranged} if ranged is not None else {}
        return self.client.get(self.path, headers={**headers, **more})


@pytest.fixture
def rates(own: Served) -> Uploaded:
    ann = own.client("ann", "write")
    return Uploaded(ann, uploaded(ann, "rates.zip", CONTENT)["result"]["files"][0]["document"])


@pytest.mark.parametrize(
    ("ranged", "start", "stop"),
    [
        ("bytes=0-99", 0, 100),
        ("bytes=0-0", 0, 1),
        ("bytes=65530-65545", 65_530, 65_546),  # over the end of a piece that is read at once
        ("bytes=70000-", 70_000, SIZE),
        ("bytes=-10", SIZE - 10, SIZE),
        (f"bytes=-{SIZE + 1}", 0, SIZE),
        (f"bytes={SIZE - 1}-", SIZE - 1, SIZE),
        (f"bytes=100-{SIZE + 100}", 100, SIZE),
        ("bytes = 5 - 9", 5, 10),
        ("Bytes=5-9", 5, 10),
    ],
)
def test_the_bytes_that_are_asked_for_come(rates: Uploaded, ranged: str, start: int, stop: int) -> None:
    answer = rates.get(ranged)
    assert answer.status_code == 206
    assert answer.content == CONTENT[start:stop]
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{SIZE}"
    assert answer.headers["content-length"] == str(stop - start)
    assert answer.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize("ranged", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 9}", "bytes=-0", f"bytes={10**17}-"])
def test_what_the_file_does_not_have_is_an_error(rates: Uploaded, ranged: str) -> None:
    answer = rates.get(ranged)
    assert (answer.status_code, answer.json()["error"]["type"]) == (416, "RangeNotSatisfiable")
    assert answer.headers["content-range"] == f"bytes */{SIZE}"


@pytest.mark.parametrize(
    "ranged",
    [
        *("", "bytes", "bytes=", "bytes=-", "bytes=9-5", "bytes=a-b", "bytes=1-2-3", "bytes=+1-2", "bytes=٣-٤"),
        *("lines=0-9", "bytes=0-1,5-9", "bytes=0-1, -5", "bytes=0-,", f"bytes=0-{'9' * 6_000}"),
    ],
)
def test_what_is_no_one_range_is_the_whole_file(rates: Uploaded, ranged: str) -> None:
    answer = rates.client.get(rates.path, headers=[(b"Range", ranged.encode())])
    assert answer.status_code == 200
    assert answer.content == CONTENT
    assert "content-range" not in answer.headers


def test_parts_are_put_together_from_one_file_only(rates: Uploaded) -> None:
    first = rates.get("bytes=0-99")
    tag = first.headers["etag"]
    assert tag == rates.get().headers["etag"]
    rest = rates.get("bytes=100-", **{"If-Range": tag})
    assert rest.status_code == 206
    assert first.content + rest.content == CONTENT
    again = packed("# Rates\n\nTen euros.\n")
    assert uploaded(rates.client, "rates.zip", again, replace="true")["state"] == "done"
    other = rates.get("bytes=100-", **{"If-Range": tag})
    assert (other.status_code, other.content) == (200, again)
    for unlike in (f"W/{tag}", '"x"', "Mon, 30 Nov 2026 10:00:00 GMT", ""):
        assert rates.get("bytes=100-", **{"If-Range": unlike}).status_code == 200


def test_a_head_tells_of_the_whole_file_and_sends_nothing(rates: Uploaded) -> None:
    whole = rates.get()
    for ranged in ({}, {"Range": "bytes=0-9"}, {"Range": f"bytes={SIZE}-"}):
        head = rates.client.head(rates.path, headers=ranged)
        assert (head.status_code, head.content) == (200, b"")
        ours = ("content-length", "content-type", "content-disposition", "accept-ranges", "etag")
        assert [head.headers[name] for name in ours] == [whole.headers[name] for name in ours]


def test_a_file_that_is_another_now_tells_neither_bytes_nor_its_size(own: Served, rates: Uploaded) -> None:
    path = own.folder("ann") / "rates.zip"
    for other in (CONTENT + b"more", CONTENT[:-1], CONTENT[:-1] + b"!", b""):
        path.write_bytes(other)
        told = [rates.get(ranged) for ranged in (None, "bytes=0-9", "bytes=-1", f"bytes={SIZE * 2}-")]
        told += [rates.get("bytes=0-9", **{"If-Range": '"x"'})]
        assert {answer.status_code for answer in told} == {404}
        assert len({answer.content for answer in told}) == 1
        assert not any("content-range" in answer.headers or "etag" in answer.headers for answer in told)
    path.write_bytes(CONTENT)
    assert rates.get("bytes=0-1").content == b"PK"


def test_the_file_of_another_is_as_none(own: Served, rates: Uploaded) -> None:
    bob = own.client("bob", "write", "fraud_team")
    private = uploaded(bob, "secret.zip", CONTENT, groups="fraud_team")["result"]["files"][0]["document"]
    made_up = "0123456789abcdef"
    tag = rates.get().headers["etag"]  # which says what the file of the same content has
    for headers in (
        {},
        {"Range": "bytes=0-9"},
        {"Range": f"bytes={SIZE}-"},
        {"Range": "bytes=0-9", "If-Range": tag},
        {"If-None-Match": tag},
    ):
        for method in ("GET", "HEAD"):
            told = []
            for name in (private, made_up):
                answer = rates.client.request(method, f"/v1/documents/{name}/file", headers=headers)
                kept = {k: v for k, v in answer.headers.items() if k not in ("date", "x-request-id")}
                told.append((answer.status_code, re.sub(name, "IT", answer.text), kept))
            assert told[0] == told[1]
            assert told[0][0] == 404
    assert bob.get(f"/v1/documents/{private}/file", headers={"Range": "bytes=0-1"}).content == b"PK"
