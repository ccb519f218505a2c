"""The service on a socket of this machine, in a thread of this process."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from citewell.serving.caller import Scope
from citewell.serving.keys import Keys
from citewell.serving.service import Service

SOON_S = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """A running service, and clients of it by the name, scope and groups of their key."""

    app: FastAPI
    url: str
    _server: uvicorn.Server
    _prefix: str = ""
    _clients: dict[tuple[str, str], httpx.Client] = field(default_factory=dict)

    def to_others(self) -> Served:
        """The same service, and callers whom it has not seen before."""
        return replace(self, _prefix=f"{secrets.token_hex(4)}-", _clients={})

    def caller(self, name: str) -> str:
        """The name that the service has for a client's key."""
        return f"key:{self._prefix}{name}"

    def folder(self, name: str) -> Path:
        """Where the client's uploads lie."""
        return self.service.uploads.place(self.caller(name), "x").parent

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    def client(self, name: str = "", scope: str = "read", *groups: str) -> httpx.Client:
        """With a new key; the same one for the same name and scope. Without a name, with none."""
        if (name, scope) not in self._clients:
            headers = {}
            if name:
                _, token = Keys(self.service.state).add(self._prefix + name, Scope(scope), groups)
                headers = {"Authorization": f"Bearer {token}"}
            self._clients[name, scope] = httpx.Client(base_url=self.url, headers=headers, timeout=SOON_S)
        return self._clients[name, scope]

    def stop(self) -> None:
        """As a signal would, without waiting."""
        self._server.should_exit = True

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


@contextmanager
def serving(app: FastAPI) -> Iterator[Served]:
    """Until the block ends, then stopped as a signal would."""
    config = uvicorn.Config(app, port=0, log_config=None, ws="none", http="h11", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + SOON_S
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < until
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    served = Served(app, f"http://127.0.0.1:{port}", server)
    try:
        yield served
    finally:
        served.close()
        served.stop()
        thread.join()


def finished(client: httpx.Client, job: str) -> dict[str, Any]:
    """The job when it is over."""
    until = time.monotonic() + SOON_S
    while True:
        shape: dict[str, Any] = client.get(f"/v1/jobs/{job}").json()
        if shape["state"] not in ("queued", "running"):
            return shape
        assert time.monotonic() < until, shape
        time.sleep(0.05)


def uploaded(client: httpx.Client, name: str, text: str | bytes, **form: Any) -> dict[str, Any]:
    """What became of one file."""
    answer = client.post("/v1/documents", files=[("files", (name, text))], data=form)
    assert answer.status_code == 202, answer.text
    return finished(client, answer.json()["job"])


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream."""
    blocks = [block.splitlines() for block in text.split("\n\n") if block and not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]
