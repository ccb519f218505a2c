"""A re-ranking endpoint on this machine: real scores over real HTTP in the shapes of several services, and refusals."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.models.scripted_embedding_server import ScriptedAnswer

Shape = Callable[[Sequence[tuple[int, float]], Sequence[str]], dict[str, Any]]
"""From indexes with scores, best first, and the documents to the body of an answer."""


def cohere(ranked: Sequence[tuple[int, float]], _documents: Sequence[str]) -> dict[str, Any]:
    results = [{"index": index, "relevance_score": score} for index, score in ranked]
    return {"id": "07734bd2", "results": results, "meta": {"api_version": {"version": "2"}}}


def jina(ranked: Sequence[tuple[int, float]], documents: Sequence[str]) -> dict[str, Any]:
    """Also vLLM's: each document comes back."""
    results = [
        {"index": index, "relevance_score": score, "document": {"text": documents[index]}} for index, score in ranked
    ]
    return {"model": "m", "object": "list", "usage": {"total_tokens": 15}, "results": results}


def voyage(ranked: Sequence[tuple[int, float]], _documents: Sequence[str]) -> dict[str, Any]:
    data = [{"relevance_score": score, "index": index} for index, score in ranked]
    return {"object": "list", "data": data, "model": "m", "usage": {"total_tokens": 26}}


def llama_cpp(ranked: Sequence[tuple[int, float]], _documents: Sequence[str]) -> dict[str, Any]:
    """Its scores are logits."""
    results = [{"index": index, "relevance_score": score - 5.5} for index, score in ranked]
    return {"model": "m", "object": "list", "usage": {"prompt_tokens": 9, "total_tokens": 9}, "results": results}


def plain(ranked: Sequence[tuple[int, float]], _documents: Sequence[str]) -> dict[str, Any]:
    return {"results": [{"index": index, "score": score} for index, score in ranked]}


class ScriptedRerankServer(ThreadingHTTPServer):
    """Scores a document by the words of the query in it, in `shape`, unless `answers` are given: each in turn, the
    last one again and again. Remembers what it was asked.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.shape: Shape = cohere
        self.answers: list[ScriptedAnswer] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone, as some tests want it to."""


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedRerankServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((headers | {":path": self.path}, body))
        said = self.server.answers
        answer = said[min(len(self.server.requests), len(said)) - 1] if said else self._ranked(body)
        time.sleep(answer.hang_s)
        data = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(data)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _ranked(self, body: dict[str, Any]) -> ScriptedAnswer:
        query, documents = set(body["query"].split()), body["documents"]
        scores = [len(query.intersection(document.split())) / len(query) for document in documents]
        ranked = sorted(enumerate(scores), key=lambda each: -each[1])[: body.get("top_n", body.get("top_k"))]
        return ScriptedAnswer(body=json.dumps(self.server.shape(ranked, documents)))


@contextmanager
def serving() -> Iterator[ScriptedRerankServer]:
    """A server under way, in a thread."""
    with ScriptedRerankServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
