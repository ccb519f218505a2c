"""The process that reads files: bytes in, plain data out. `isolation` starts it; `frames` says how they talk.

It gets no secrets but the passwords to try, may write no file, and the system bounds its memory and processor time: a
hostile file that takes hold of a parser holds little.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from citewell.errors import LimitExceeded, LoadError
from citewell.loading import pulse
from citewell.loading.frames import Frame, parsed_frame, read_frame, write_frame
from citewell.loading.parsing import parse
from citewell.loading.pipes import Pipes
from citewell.settings import Loading

if sys.platform != "win32":
    import resource

MEGABYTE = 1_000_000
_WORN_MB = 1_500
"""A process that holds this much after a file is not used for another."""
_SLACK_S = 10
_LOOK_S = 1.0


def main() -> None:
    """Answer the requests on standard input, on what was standard output, until there are no more."""
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints must not end up among the answers
    _forbid_writing()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    pipes = Pipes(0, answers)
    write_frame(pipes.write, Frame({"ready": True}))
    while (request := read_frame(pipes.read, sys.maxsize)) is not None:
        limits = Loading.model_validate(request.header["limits"])
        _bound(limits)
        pulse.listen(partial(_beat, pipes, limits))
        answer = _answer(request.blobs[0], request.header["name"], limits, request.header["passwords"])
        # What is left in memory after a limit was met is not known.
        is_last = answer.header.get("error") == LimitExceeded.__name__ or _resident_mb() > _WORN_MB
        write_frame(pipes.write, replace(answer, header={**answer.header, "last": is_last}))
        if is_last:
            return


def _answer(data: bytes, name: str, limits: Loading, passwords: Sequence[str]) -> Frame:
    try:
        return parsed_frame(parse(data, name, limits, passwords))
    except LoadError as error:
        return Frame({"error": type(error).__name__, "message": error.message, "remedy": error.remedy})


def _beat(pipes: Pipes, limits: Loading) -> None:
    _bound_time(limits)
    write_frame(pipes.write, Frame({"beat": True}))


def _end_with(owner: int) -> None:
    """End this process soon after its owner, which may have been killed in the middle of a file."""
    while os.getppid() == owner:
        time.sleep(_LOOK_S)
    os._exit(1)


def _forbid_writing() -> None:
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _bound(limits: Loading) -> None:
    """From now on `max_memory_mb` more than now, and `max_seconds` of every processor."""
    _bound_time(limits)
    if sys.platform == "linux":
        held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        soft = held + limits.max_memory_mb * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (soft, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _bound_time(limits: Loading) -> None:
    """The owner watches the clock; this ends the process if its owner was killed and nobody does."""
    if sys.platform != "win32":
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        soft = int(used + limits.max_seconds * (os.cpu_count() or 1)) + _SLACK_S
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _resident_mb() -> float:
    if sys.platform != "linux":
        return 0.0
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / MEGABYTE


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # its owner has gone
        main()
