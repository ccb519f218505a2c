"""Spans of the service on their way, as docs/service.md tells a user: by OTLP, configured through the environment."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from citewell.serving.caller import Scope
from citewell.serving.keys import Keys
from citewell.serving.state import State
from tests.serving.conftest import QUESTION, RULE
from tests.serving.served import SOON_S

BIN = Path(sys.executable).parent
NAME = "bank-answers"


class OtlpReceiver(ThreadingHTTPServer):
    """What is sent to `/v1/traces`, decoded with the protocol's own messages; and all that came, as bytes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiving)
        self.came = list[tuple[str, bytes]]()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def exported(self) -> Sequence[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for path, body in self.came if path == "/v1/traces"]

    @property
    def spans(self) -> Sequence[Span]:
        scopes = (scope for one in self.exported for resource in one.resource_spans for scope in resource.scope_spans)
        return [span for scope in scopes for span in scope.spans]

    @property
    def services(self) -> set[str]:
        resources = (each.resource for one in self.exported for each in one.resource_spans)
        attributes = (attribute for resource in resources for attribute in resource.attributes)
        return {each.value.string_value for each in attributes if each.key == "service.name"}


class _Receiving(BaseHTTPRequestHandler):
    server: OtlpReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.came.append((self.path, body))
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as receiver:
        receiver.thread.start()
        yield receiver
        receiver.shutdown()


@contextmanager
def collecting(onward: str, folder: Path) -> Iterator[str]:
    """A collector (Rotel) that takes OTLP over HTTP and sends it on; its address."""
    spec = find_spec("rotel")
    assert spec is not None
    assert spec.origin is not None
    ports = free_ports(2)
    command = [str(Path(spec.origin).with_name("rotel-agent")), "start", "--exporter", "otlp"]
    command += ["--otlp-http-endpoint", f"127.0.0.1:{ports[0]}", "--otlp-grpc-endpoint", f"127.0.0.1:{ports[1]}"]
    command += ["--otlp-exporter-endpoint", onward, "--otlp-exporter-protocol", "http"]
    with (folder / "collector.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            until = time.monotonic() + SOON_S
            while not is_open(ports[0]):
                assert process.poll() is None, (folder / "collector.log").read_text()
                assert time.monotonic() < until
                time.sleep(0.05)
            yield f"http://127.0.0.1:{ports[0]}"
        finally:
            process.terminate()


def free_ports(many: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(many)]
        return [int(each.getsockname()[1]) for each in sockets]


def is_open(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def traced_service(index: Path, folder: Path, endpoint: str, workers: int) -> Iterator[str]:
    """`opentelemetry-instrument citewell serve` until the block ends, then a signal; its address."""
    settings = folder / "citewell.toml"
    settings.write_text(f"[service]\nstate = {json.dumps(str(folder / 'state'))}\n")
    command = [str(BIN / "opentelemetry-instrument"), str(BIN / "citewell"), "serve", "--port", "0"]
    command += ["--workers", str(workers), "--index", str(index), "--settings", str(settings)]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
        "OTEL_SERVICE_NAME": NAME,
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        told = b""
        try:
            while b"running on" not in told or told.count(b"startup complete") < workers:
                line = process.stderr.readline()
                assert line, told
                told += line
            yield re.findall(rb"(http://127\.0\.0\.1:\d+)", told)[0].decode()
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
    assert b"Traceback" not in told + rest, told + rest


@pytest.mark.parametrize(("workers", "collected"), [(1, False), (2, True)], ids=["receiver", "collector"])
def test_spans_arrive_by_otlp_and_tell_no_text(built: Path, tmp_path: Path, workers: int, collected: bool) -> None:
    _, token = Keys(State.at(str(tmp_path / "state"))).add("ann", Scope.ADMIN, ["board"])
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = {"Authorization": f"Bearer {token}", "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    with ExitStack() as running:
        receiver = running.enter_context(receiving())
        endpoint = running.enter_context(collecting(receiver.url, tmp_path)) if collected else receiver.url
        with (
            traced_service(built / "index", tmp_path, endpoint, workers) as url,
            httpx.Client(base_url=url, headers=headers, timeout=120) as client,
        ):
            answer = client.post("/v1/ask", json={"question": QUESTION}).json()
            vault = client.post("/v1/search", json={"query": "code word of the vault"}).json()["hits"][0]
            client.get("/v1/documents", params={"where": 'title = "Code word"'})
            client.get(f"/v1/documents/{vault['document']}/text")
            client.post("/v1/ask", json={"question": QUESTION, "principal": "Meadow"})
            client.get(f"/v1/{QUESTION}")
        until = time.monotonic() + SOON_S
        while len([span for span in receiver.spans if span.kind == Span.SPAN_KIND_SERVER]) < 6:
            assert time.monotonic() < until, [span.name for span in receiver.spans]
            time.sleep(0.05)
    assert RULE in answer["answer"] + str(answer["citations"])
    spans = receiver.spans
    assert receiver.services == {NAME}
    assert {span.trace_id.hex() for span in spans} == {trace}
    (ask,) = (span for span in spans if span.name == "ask")
    served = {span.span_id: span.name for span in spans if span.kind == Span.SPAN_KIND_SERVER}
    assert served[ask.parent_span_id] == "POST /v1/ask"
    steps = [span.name for span in spans if span.parent_span_id == ask.span_id]
    assert sorted(steps) == sorted(step["step"] for step in answer["trace"])
    said = {attribute.key for span in spans for attribute in span.attributes}
    assert said == {
        *("http.request.method", "http.route", "http.response.status_code"),
        *("citewell.abstained", "citewell.hits", "citewell.in", "citewell.out"),
        *("citewell.llm.calls", "citewell.llm.prompt_tokens", "citewell.llm.completion_tokens"),
    }
    sent = b"".join(body for _, body in receiver.came)
    for text in (
        QUESTION,
        "dispute",
        RULE,
        "Meadow",
        "Code word",
        "code word",
        token,
        "board",
        "key:ann",
        "disputes.md",
    ):
        assert text.encode() not in sent, text
