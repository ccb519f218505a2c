"""A chat endpoint on this machine: scripted replies over real HTTP, whole or as server-sent events."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}


@dataclass
class ScriptedReply:
    """One HTTP reply: a body, sent whole or piece by piece, with `pause_s` after each.

    `hang_s` is waited before it, `drop` sends nothing, and `cut` ends the connection in the middle of a chunk, after
    the body.
    """

    body: str | Sequence[str]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)
    pause_s: float = 0
    hang_s: float = 0
    drop: bool = False
    cut: bool = False


class ScriptedServer(ThreadingHTTPServer):
    """Gives its replies in turn, the last one again and again, and keeps what it was asked.

    `gone` is set once a client has hung up before it had all.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[ScriptedReply] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.gone = threading.Event()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def give(self, *replies: ScriptedReply) -> None:
        self.replies = list(replies)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone, as some tests want it to."""


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((headers | {":path": self.path}, body))
        replies = self.server.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        self.close_connection = True
        time.sleep(reply.hang_s)
        if reply.drop:
            return
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Transfer-Encoding": "chunked", "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self._send(reply)
        except OSError:
            self.server.gone.set()

    def _send(self, reply: ScriptedReply) -> None:
        pieces = [reply.body] if isinstance(reply.body, str) and not reply.pause_s else list(reply.body)
        for piece in pieces:
            data = piece.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            time.sleep(reply.pause_s)
        self.wfile.write(b"ff\r\nbroken" if reply.cut else b"0\r\n\r\n")


@contextmanager
def serving() -> Iterator[ScriptedServer]:
    """A server under way, in a thread."""
    with ScriptedServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def openai_whole(text: str | None = "120 days [1].", *, finish: str = "stop", cached: int = 0) -> str:
    """A chat completion as OpenAI writes it."""
    message = {"role": "assistant", "content": text}
    usage = {
        "prompt_tokens": 812,
        "completion_tokens": 7,
        "total_tokens": 819,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


def openai_events(*texts: str, finish: str | None = "stop", done: bool = True) -> list[str]:
    """The same as events: a piece of text each, then why it ends, then the counts."""

    def chunk(choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> str:
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return f"data: {json.dumps({**head, 'choices': choices, 'usage': usage})}\n\n"

    events = [chunk([{"index": 0, "delta": {"content": text}, "finish_reason": None}]) for text in texts]
    if finish:
        events.append(chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
        events.append(chunk([], {"prompt_tokens": 812, "completion_tokens": 7, "total_tokens": 819}))
    return [*events, "data: [DONE]\n\n"] if done else events


def anthropic_whole(text: str = "120 days [1].", *, finish: str = "end_turn") -> str:
    """A message as Anthropic writes it: 800 tokens of its prompt came out of the cache."""
    content = [{"type": "text", "text": text}] if text else []
    usage = {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 800, "output_tokens": 7}
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": content,
            "stop_reason": finish,
            "stop_sequence": None,
            "usage": usage,
        }
    )


def anthropic_events(*texts: str, finish: str | None = "end_turn") -> list[str]:
    """The same as events."""
    opening = json.loads(anthropic_whole(""))
    opening |= {"stop_reason": None, "usage": {**opening["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": opening},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts),
    ]
    if finish:
        delta = {"stop_reason": finish, "stop_sequence": None}
        events.append({"type": "content_block_stop", "index": 0})
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
        events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def openai_failure(status: int, code: str, message: str, **headers: str) -> ScriptedReply:
    """An error as OpenAI writes it."""
    error = {"message": message, "type": code, "code": code}
    return ScriptedReply(json.dumps({"error": error}), status, {**JSON, **headers})


def anthropic_failure(status: int, kind: str, message: str, **headers: str) -> ScriptedReply:
    """An error as Anthropic writes it."""
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return ScriptedReply(json.dumps(error), status, {**JSON, **headers})
