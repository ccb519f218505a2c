"""A file on its way to a client that goes away."""

from __future__ import annotations

import io
import os
import socket
import time
import zipfile
from pathlib import Path

import pytest

from citewell.serving import originals
from citewell.serving.checked import Checked
from citewell.serving.originals import Original
from citewell.types import Document
from tests.serving.served import SOON_S, Served, uploaded


def test_its_copy_is_closed_when_the_client_goes_away(own: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, copies = own.client("ann", "write"), list[Original]()

    def kept(document: Document, checked: Checked, *headers: str | None) -> Original:
        copies.append(originals.original(document, checked, *headers))  # held on to, so that nothing else closes it
        return copies[-1]

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("fees.md", "# Fees\n\nNine euros.\n")
        archive.writestr("noise.bin", os.urandom(8_000_000))
    document = uploaded(ann, "all.zip", packed.getvalue())["result"]["files"][0]["document"]
    monkeypatch.setattr("citewell.serving.routes.documents.original", kept)
    host, port = own.url.removeprefix("http://").split(":")
    shown = ann.headers["Authorization"]
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect((host, int(port)))
        client.sendall(
            f"GET /v1/documents/{document}/file HTTP/1.1\r\nHost: x\r\nAuthorization: {shown}\r\n\r\n".encode()
        )
        assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert not copies[0].data.closed
    _until_closed(copies[0])
    assert ann.get(f"/v1/documents/{document}/file").content == packed.getvalue()
    _until_closed(copies[1])


def _until_closed(copy: Original) -> None:
    until = time.monotonic() + SOON_S
    while not copy.data.closed:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_what_cannot_be_an_id_is_no_document(own: Served, tmp_path: Path) -> None:
    root = own.client("root", "admin")
    file = own.service.state.folder / "service.sqlite3"
    names = (
        "%00",
        "5d0f3a4c9be1a7f%00",
        "5D0F3A4C9BE1A7F2",
        "5d0f3a4c9be1a7f2%0A",
        "%ED%A0%80",
        "none",
        "%20",
        "..%2F..",
    )
    for name in (*names, str(file).replace("/", "%2F"), str(tmp_path).replace("/", "%2F")):
        path = f"/v1/documents/{name}"
        for answer in (
            root.get(path),
            root.patch(path, json={}),
            root.delete(path),
            root.delete(path, params={"purge": "true"}),
            root.get(f"{path}/text"),
            root.get(f"{path}/file"),
        ):
            assert answer.status_code == 404, (name, answer.request.method, answer.text)
            assert answer.json()["error"]["type"] in ("UnknownId", "NotFound")
