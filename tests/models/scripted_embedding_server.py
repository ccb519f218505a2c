"""An OpenAI-compatible embeddings endpoint on this machine: real vectors over real HTTP, and refusals as scripted."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from citewell.models.embedder import Embedder


@dataclass(frozen=True)
class ScriptedAnswer:
    """What a server says in the place of vectors: a body as text, sent whole or, with `pause_s`, a byte at a time."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    hang_s: float = 0
    pause_s: float = 0
    drop: bool = False


def refusal(status: int, code: str = "some_code", **headers: str) -> ScriptedAnswer:
    """An error as OpenAI writes it, with what was sent in its message."""
    error = {"message": "No: sk-very-secret-0123456789: the text of a document", "type": code, "code": code}
    return ScriptedAnswer(status, json.dumps({"error": error}), headers)


Script = Callable[[int], ScriptedAnswer | None]
"""From the number of a request, the first being 1, to what is said to it; None lets it have its vectors."""


class ScriptedEmbeddingServer(ThreadingHTTPServer):
    """Embeds with `embedder`, unless `script` says otherwise, and remembers what it was asked and what it embedded.

    A request for nothing but texts of `free` is answered in any case, and not remembered.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, embedder: Embedder, script: Script = lambda _: None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.embedder = embedder
        self.script = script
        self.free: Collection[str] = ()
        self.requests: list[tuple[dict[str, str], dict[str, Any], float]] = []
        self.embedded: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def say(self, *answers: ScriptedAnswer | None) -> None:
        """Give these in turn from now on, the last one again and again."""
        before = len(self.requests)
        self.script = lambda number: answers[min(number - before, len(answers)) - 1]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone, as some tests want it to."""


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedEmbeddingServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.free and set(body["input"]) <= set(self.server.free):
            self._send(self._vectors(body["input"]))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((headers | {":path": self.path}, body, time.monotonic()))
        answer = self.server.script(len(self.server.requests))
        if answer is None:
            self.server.embedded.update(body["input"])
        self._send(answer or self._vectors(body["input"]))

    def _vectors(self, texts: list[str]) -> ScriptedAnswer:
        rows = self.server.embedder.embed_passages(texts)
        data = [{"object": "embedding", "index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
        # Nobody promises that they come in the order of the texts.
        return ScriptedAnswer(body=json.dumps({"object": "list", "data": data[::-1], "model": "m"}))

    def _send(self, answer: ScriptedAnswer) -> None:
        time.sleep(answer.hang_s)
        if answer.drop:
            self.close_connection = True
            return
        data = answer.body.encode()
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data))} | answer.headers
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in [data[at : at + 1] for at in range(len(data))] if answer.pause_s else [data]:
            self.wfile.write(piece)
            time.sleep(answer.pause_s)


@contextmanager
def serving(embedder: Embedder, script: Script = lambda _: None) -> Iterator[ScriptedEmbeddingServer]:
    """A server under way, in a thread."""
    with ScriptedEmbeddingServer(embedder, script) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
