"""Engines on a server: what is sent, what is said when it fails. Milvus is Milvus Lite's own server, over gRPC."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic_core import to_jsonable_python

from citewell.errors import ServiceRefused, ServiceUnreachable, SettingsError
from citewell.settings import Storage
from citewell.stores.beside.server import Server, our_collection
from citewell.stores.lance_reader import LanceReader
from citewell.stores.store import OWNER, Scope
from citewell.types import EVERYONE
from tests.stores.beside_engines import BESIDE, beside
from tests.stores.corpus import commit, indexed, key, unit_vectors

VECTOR = unit_vectors(1, 0)[0]
SERVED = [name for name in ("qdrant", "milvus") if name in BESIDE]


class ScriptedQdrant(ThreadingHTTPServer):
    """Answers the calls that we make as Qdrant does, by the client's local form in memory; keeps what it was sent.

    With `status` set, it answers with that and nothing else.
    """

    def __init__(self) -> None:
        from qdrant_client import QdrantClient

        super().__init__(("127.0.0.1", 0), _Handler)
        self.client = QdrantClient(":memory:")
        self.one_at_a_time = threading.Lock()
        self.status = 200
        self.sent: list[tuple[str, str, Any]] = []
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, method: str, path: list[str], body: Any) -> object:
        from qdrant_client.http import models

        client, (_, name, *call) = self.client, path
        calls: dict[tuple[str, str], Callable[[], object]] = {
            ("GET", "exists"): lambda: {"exists": client.collection_exists(name)},
            ("PUT", ""): lambda: client.create_collection(name, models.VectorParams(**body["vectors"])),
            ("DELETE", ""): lambda: client.delete_collection(name),
            ("PUT", "index"): lambda: {"operation_id": 0, "status": "completed"},
            ("PUT", "points"): lambda: client.upsert(name, [models.PointStruct(**point) for point in body["points"]]),
            ("POST", "points"): lambda: client.retrieve(name, body["ids"], with_payload=True),
            ("POST", "points/delete"): lambda: client.delete(name, models.Filter(**body["filter"])),
            ("POST", "points/query"): lambda: client.query_points(
                name,
                body["query"]["nearest"],
                query_filter=models.Filter(**body["filter"]),
                limit=body["limit"],
                with_payload=body["with_payload"],
            ),
        }
        return to_jsonable_python(calls[method, "/".join(call)]())


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedQdrant
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        path = urlsplit(self.path).path.strip("/").split("/")
        with self.server.one_at_a_time:
            self.server.sent.append((self.command, self.path, body))
            self.server.keys.add(self.headers.get("api-key"))
            status, result = self.server.status, None
            if status == 200:
                if path[-1] != "exists" and self.command in ("POST", "DELETE"):
                    status = 200 if self.server.client.collection_exists(path[1]) else 404
                if status == 200:
                    result = self.server.answer(self.command, path, body)
        content = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815  # the names that the library calls

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def qdrant() -> Iterator[ScriptedQdrant]:
    pytest.importorskip("qdrant_client")
    with ScriptedQdrant() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
        server.client.close()


@pytest.fixture(params=SERVED)
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """Settings that name a server."""
    if request.param == "qdrant":
        yield Storage(vectors="qdrant", vectors_url=request.getfixturevalue("qdrant").url, exact_up_to=5)
        return
    from milvus_lite.server_manager import server_manager_instance

    database = str(tmp_path / "server.db")
    uri = server_manager_instance.start_and_get_uri(database)
    assert uri is not None
    yield Storage(vectors="milvus", vectors_url=uri, exact_up_to=5)
    server_manager_instance.release_server(database)


def test_a_server_does_what_the_local_form_does(
    served: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, reopen = beside(served)
    store = create(tmp_path / "index")
    commit(store, [indexed(f"d{number}", ["a", "b"], groups=["g", EVERYONE][number % 2 :]) for number in range(20)])
    commit(store, [indexed("d2", ["x"])], [key("d0"), key("d1")])
    assert not store.stale
    scope = Scope(frozenset({"g"}))
    expected = [match.entry_id for match in store.base.reader().dense(VECTOR, 5, scope)]
    monkeypatch.setattr(LanceReader, "dense", None)
    assert [match.entry_id for match in store.reader().dense(VECTOR, 5, scope)] == expected
    store.close()

    again = reopen(tmp_path / "index")
    assert not again.stale
    assert [match.entry_id for match in again.reader().dense(VECTOR, 5, scope)] == expected
    again.rebuild()
    assert [match.entry_id for match in again.reader().dense(VECTOR, 5, scope)] == expected
    again.close()


def test_two_indexes_on_one_server_do_not_meet(served: Storage, tmp_path: Path) -> None:
    create, _ = beside(served)
    stores = [create(tmp_path / name) for name in "ab"]
    for store, name in zip(stores, "ab", strict=True):
        commit(store, [indexed(name, ["w"])])
    for store, name in zip(stores, "ab", strict=True):
        assert not store.stale
        assert [match.entry_id for match in store.reader().dense(VECTOR, 5, OWNER)] == [f"{name}/0000/e"]
    names = {our_collection(tmp_path / name / "vectors") for name in "ab"}
    assert len(names) == 2
    stores[0].discard()
    assert [store.stale for store in stores] == [True, False]
    assert [match.entry_id for match in stores[0].reader().dense(VECTOR, 5, OWNER)] == ["a/0000/e"]
    for store in stores:
        store.close()


def test_what_is_sent_holds_no_text_and_the_key_only_where_it_belongs(
    qdrant: ScriptedQdrant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "the-secret-key")
    store = beside(Storage(vectors="qdrant", vectors_url=qdrant.url, exact_up_to=5))[0](tmp_path)
    commit(store, [indexed(f"d{number}", ["the secret text"], groups=["the-secret-group"]) for number in range(40)])
    store.reader().dense(VECTOR, 3, Scope(frozenset({"the-secret-group", "another"})))
    assert qdrant.keys == {"the-secret-key"}
    sent = json.dumps(qdrant.sent)
    assert "d1/0000/e" in sent
    assert "secret" not in sent
    (search,) = [body for _, path, body in qdrant.sent if path.endswith("/points/query")]
    assert search["params"]["acorn"] == {"enable": True, "max_selectivity": 0.9}
    assert search["params"]["hnsw_ef"] == 512
    indexes = {body["field_name"] for method, path, body in qdrant.sent if urlsplit(path).path.endswith("/index")}
    assert indexes == {"tags", "version", "first", "last"}
    stored = "".join(path.read_text() for path in (tmp_path / "vectors").rglob("*") if path.is_file())
    assert "secret" not in stored
    store.close()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ServiceRefused),
        (403, ServiceRefused),
        (400, ServiceRefused),
        (429, ServiceUnreachable),
        (503, ServiceUnreachable),
    ],
)
def test_what_a_qdrant_answers_is_said_in_our_words(
    qdrant: ScriptedQdrant, tmp_path: Path, status: int, error: type[Exception]
) -> None:
    store = beside(Storage(vectors="qdrant", vectors_url=qdrant.url))[0](tmp_path)
    commit(store, [indexed("d", ["w"])])
    qdrant.status = status
    reader = store.reader()
    with pytest.raises(error, match=rf"Qdrant at http://127.0.0.1:\d+ .*{status}"):
        reader.dense(VECTOR, 3, OWNER)
    with pytest.raises(error):
        commit(store, [indexed("never", ["w"])])
    qdrant.status = 200
    assert store.reader().counts(OWNER).documents == 1, "nothing was written while it did not answer"
    assert not store.stale
    store.close()


@pytest.mark.parametrize("name", SERVED)
def test_a_server_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    storage = Storage(vectors=name, vectors_url="http://127.0.0.1:9")
    store = beside(storage)[0](tmp_path)
    assert store.reader().dense(VECTOR, 3, OWNER) == []
    with pytest.raises(ServiceUnreachable, match=r"at http://127.0.0.1:9 cannot be reached.*built-in"):
        commit(store, [indexed("d", ["w"])])
    store.close()


def test_the_environment_may_name_the_server_and_the_settings_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QDRANT_URL", raising=False)
    assert Server.named("Qdrant", Storage(), "QDRANT_URL", "KEY") is None
    monkeypatch.setenv("QDRANT_URL", "http://one:6333")
    assert Server.named("Qdrant", Storage(), "QDRANT_URL", "KEY") == Server("Qdrant", "http://one:6333", "")
    storage = Storage(vectors_url="https://two")
    monkeypatch.setenv("KEY", "secret")
    assert Server.named("Qdrant", storage, "QDRANT_URL", "KEY") == Server("Qdrant", "https://two", "secret")


def test_a_key_goes_over_no_open_connection_and_into_no_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "secret")
    with pytest.raises(SettingsError, match="open connection") as refused:
        Server.named("Qdrant", Storage(vectors_url="http://vectors.example:6333"), "URL", "KEY")
    assert "secret" not in str(refused.value)
    for local in ("http://localhost:6333", "http://127.0.0.1:6333", "http://[::1]:6333"):
        assert Server.named("Qdrant", Storage(vectors_url=local), "URL", "KEY") is not None
    with pytest.raises(SettingsError, match="password") as refused:
        Server.named("Qdrant", Storage(vectors_url="https://me:hidden@vectors.example"), "URL", "KEY")
    assert "hidden" not in str(refused.value)
