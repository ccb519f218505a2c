"""Parsing in a process of its own, which can be killed: a file can end, fill or hang that one and no other."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, cast

from citewell import errors
from citewell.errors import CitewellError, DamagedFile, LimitExceeded
from citewell.loading.frames import Frame, parsed_of, read_frame, write_frame
from citewell.loading.parsed import Parsed
from citewell.settings import Loading

# Keys and tokens of this process are no business of a parser's.
_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH"}
)
_ENDING_S = 5
_KEPT = 2
"""Processes that wait for the next file; starting one costs some tenths of a second."""


def parse_apart(data: bytes, name: str, limits: Loading, passwords: Sequence[str] = ()) -> Parsed:
    """`parsing.parse`, in a process of its own, with `max_seconds` and `max_memory_mb`. Safe from several threads.

    Raises:
        LoadError: as there; LimitExceeded also where it takes too long, DamagedFile where the process ended under it.
        ImportError: an extra is not installed.
    """
    with _borrowed() as reader:
        return reader.parse(data, name, limits, passwords)


@dataclass(slots=True)
class _Reader:
    """One reading process. It reads one file at a time."""

    process: subprocess.Popen[bytes]
    owner: int

    @classmethod
    def start(cls) -> _Reader:
        environment = {key: value for key, value in os.environ.items() if key in _PASSED_ON}
        # It must find what this process finds, however that was arranged.
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        process = subprocess.Popen(
            [sys.executable, "-B", "-m", "citewell.loading.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process, which then ends that one
        )
        reader = cls(process, os.getpid())
        if read_frame(reader._answers) is None:
            reader.stop()
            raise CitewellError(
                f"The process that reads files did not start (exit status {process.returncode}).",
                remedy=f"See what `{sys.executable} -m citewell.loading.worker` prints.",
            )
        return reader

    @property
    def _answers(self) -> IO[bytes]:
        return cast("IO[bytes]", self.process.stdout)

    @property
    def is_alive(self) -> bool:
        # A forked process must leave its parent's readers alone.
        return self.owner == os.getpid() and self.process.poll() is None

    def parse(self, data: bytes, name: str, limits: Loading, passwords: Sequence[str]) -> Parsed:
        header = {"name": name, "limits": limits.model_dump(mode="json"), "passwords": list(passwords)}
        clock = _Clock(self.process, limits.max_seconds)
        try:
            clock.start()
            # Where it has ended, so has its answer.
            with suppress(BrokenPipeError):
                write_frame(cast("IO[bytes]", self.process.stdin), Frame(header, (data,)))
            while (frame := read_frame(self._answers)) is not None and "beat" in frame.header:
                clock.start()
            if frame is not None:
                if frame.header.get("last"):
                    self.stop()
                return _result(frame)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.stop()
            raise _nonsense() from error
        finally:
            clock.stop()
        raise self._ended(clock, limits)

    def _ended(self, clock: _Clock, limits: Loading) -> CitewellError:
        with suppress(subprocess.TimeoutExpired):  # its pipe closes a little before it has ended
            self.process.wait(_ENDING_S)
        self.stop()
        if clock.has_rung:
            return LimitExceeded(
                f"Reading it takes more than {limits.max_seconds:g} seconds.",
                remedy="Raise max_seconds in [loading] if the file is to be trusted.",
            )
        status = self.process.returncode
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return DamagedFile(
            f"The process that reads it ended under it ({how}), as a damaged or hostile file can make it, or one that "
            f"takes more than max_memory_mb ({limits.max_memory_mb:,}).",
            remedy="Open it in the program that made it, save it again, and index that.",
        )

    def stop(self) -> None:
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


@dataclass(slots=True)
class _Clock:
    """Kills a process after some seconds, unless started again or stopped before."""

    process: subprocess.Popen[bytes]
    seconds: float
    has_rung: bool = False
    _timer: threading.Timer | None = None

    def start(self) -> None:
        self.stop()
        self._timer = threading.Timer(self.seconds, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        self.has_rung = True
        self.process.kill()


_waiting: list[_Reader] = []
_lock = threading.Lock()


@contextmanager
def _borrowed() -> Iterator[_Reader]:
    with _lock:
        _leave_dead()
        idle = _waiting.pop() if _waiting else None
    reader = idle or _Reader.start()
    finished = False
    try:
        yield reader
        finished = True
    except CitewellError:
        finished = True
        raise
    finally:
        # After anything else (Ctrl-C in the middle of an answer) what it would say next is not known.
        _give_back(reader, finished=finished)


def _give_back(reader: _Reader, *, finished: bool) -> None:
    with _lock:
        _leave_dead()
        if finished and reader.is_alive and len(_waiting) < _KEPT:
            _waiting.append(reader)
            return
    reader.stop()


def _leave_dead() -> None:
    for reader in [reader for reader in _waiting if not reader.is_alive]:
        _waiting.remove(reader)
        reader.stop()


def waiting() -> list[int]:
    """The process ids of the readers that wait for a file."""
    return [reader.process.pid for reader in _waiting]


@atexit.register
def stop_waiting() -> None:
    """End the readers that wait for a file; the next file starts one."""
    while _waiting:
        _waiting.pop().stop()


def _result(frame: Frame) -> Parsed:
    header = frame.header
    if "missing" in header:
        raise ImportError(f"No module named {header['missing']!r}", name=header["missing"])
    if "error" in header:
        kind = getattr(errors, str(header["error"]), None)
        if not (isinstance(kind, type) and issubclass(kind, CitewellError)):
            raise _nonsense()
        raise kind(str(header["message"]), remedy=str(header["remedy"]))
    return parsed_of(frame)


def _nonsense() -> DamagedFile:
    return DamagedFile(
        "The process that reads it answered what it never does: the file may have taken hold of it.",
        remedy="Do not trust the file; find out where it came from.",
    )
