"""A stand-in for a SearXNG on this machine: its form of request and reply over real HTTP, and failures as scripted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from tests.models.scripted_embedding_server import ScriptedAnswer


def result(url: str, title: str = "A page", content: object = "It says something.") -> dict[str, Any]:
    """One, in the keys of SearXNG."""
    return {"url": url, "title": title, "content": content, "engine": "local", "positions": [1], "score": 1.0}


def reply(*results: object) -> ScriptedAnswer:
    found = {"results": list(results), "answers": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []}
    return ScriptedAnswer(body=json.dumps({"query": "", **found}))


class ScriptedSearXNG(ThreadingHTTPServer):
    """Says `answer`, and remembers the path, headers and form of each request."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = reply()
        self.requests: list[tuple[str, dict[str, str], dict[str, list[str]]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/search"

    @property
    def asked(self) -> list[str]:
        """The questions that were sent here."""
        return [question for _, _, form in self.requests for question in form["q"]]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone, as some tests want it to."""


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedSearXNG
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers, form))
        answer = self.server.answer
        time.sleep(answer.hang_s)
        if answer.drop:
            self.close_connection = True
            return
        data = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(data)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in [data[at : at + 1] for at in range(len(data))] if answer.pause_s else [data]:
            self.wfile.write(piece)
            time.sleep(answer.pause_s)


@contextmanager
def serving() -> Iterator[ScriptedSearXNG]:
    """A server under way, in a thread."""
    with ScriptedSearXNG() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
