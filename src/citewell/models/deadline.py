"""The time that a whole request may take. A client's own time-out is for each packet, and a server that sends one byte
after the other, of the head or of the body, would be waited for as long as it likes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self


class Deadline:
    """Within its block, the connections of requests with `extensions` are cut after so many seconds: what waits for
    them then fails. It is for connections that are made within the block.
    """

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._cut_all)
        self._timer.daemon = True
        self._sockets: list[socket.socket] = []
        self._is_over = threading.Event()

    @property
    def is_over(self) -> bool:
        return self._is_over.is_set()

    @property
    def extensions(self) -> dict[str, Any]:
        """Of a request, as httpx2 takes them."""
        return {"trace": self._seen}

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def _seen(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.is_over:
                self._cut_all()

    def _cut_all(self) -> None:
        self._is_over.set()
        for each in tuple(self._sockets):
            # Not closed, which wakes nobody; and not by the method of a TLS socket, which is being read.
            with suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)
