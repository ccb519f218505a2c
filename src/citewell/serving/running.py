"""Serving until told to stop. After the signal no connection is taken, what is being answered is finished."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import uvicorn

from citewell.errors import Refused
from citewell.serving import process
from citewell.serving.metrics import SHARED
from citewell.serving.state import State
from citewell.settings import Settings

FINISH_S = 60
"""For so long an answer may go on after the signal."""
STUCK_S = 600
"""A worker that says nothing for so long is ended. A large file may keep one from answering for more than a moment."""
MAX_HEADER_BYTES = 32_768


def serve(
    index: str, settings: Settings, settings_file: Path | None, *, host: str, port: int, workers: int, no_auth: bool
) -> None:
    """Serve the index at that place, from as many processes as are named.

    Raises:
        Refused: nothing can listen there.
    """
    _require_free(host, port)
    os.environ[process.INDEX] = index
    os.environ[process.NO_AUTH] = "1" if no_auth else ""
    os.environ[process.SETTINGS] = str(settings_file) if settings_file is not None else ""
    if workers > 1:
        os.environ[SHARED] = str(_emptied(State.at(settings.service.state).folder / "metrics"))
    uvicorn.run(
        "citewell.serving.process:app",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        timeout_graceful_shutdown=FINISH_S,
        timeout_worker_healthcheck=STUCK_S,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        server_header=False,
        proxy_headers=False,  # an address that a client may choose proves nothing
        access_log=False,  # it would tell queries; the border logs routes
        http="h11",
        ws="none",
        log_config=LOGGING,
    )


def _require_free(host: str, port: int) -> None:
    """Before uvicorn finds it out, which ends the program without a word on what to do."""
    try:
        with socket.create_server((host, port), family=_family(host)):
            return
    except (OSError, OverflowError) as error:
        raise Refused(
            f"Nothing can listen on port {port} of {host}: {getattr(error, 'strerror', None) or error}.",
            remedy="Choose another with --port (0 takes a free one), or another address with --host.",
        ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _emptied(folder: Path) -> Path:
    """For the numbers of all workers; those of the last start do not count."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
    "loggers": {
        "uvicorn": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "citewell.serving": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}
