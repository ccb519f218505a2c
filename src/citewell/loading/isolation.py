"""Parsing in a process of its own, which can be killed: a file can end, fill or hang that one and no other."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, cast

from citewell import errors
from citewell.errors import CitewellError, DamagedFile, LimitExceeded, LoadError
from citewell.loading.bounds import MEGABYTE
from citewell.loading.frames import MAX_HEADER, Frame, parsed_of, read_frame, write_frame
from citewell.loading.parsed import Parsed
from citewell.loading.pipes import Pipes
from citewell.settings import Loading

# Keys and tokens of this process are no business of a parser's.
_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH"}
)
_STARTING_S = 120
_ENDING_S = 5
# What JSON may make of a byte of text, and room for elements, pages and metadata.
_JSON_OF_TEXT = 7
_ROOM_MB = 500
_KEPT = 2
"""Processes that wait for the next file; starting one costs some tenths of a second."""


def parse_apart(
    data: bytes, name: str, limits: Loading, passwords: Sequence[str] = (), on_wait: Callable[[], None] | None = None
) -> Parsed:
    """`parsing.parse`, in a process of its own, with `max_seconds` and `max_memory_mb`. Safe from several threads.

    `on_wait` is called now and then meanwhile; what it raises ends the wait, and that process.

    Raises:
        LoadError: as there; LimitExceeded also where it takes too long, DamagedFile where the process ended under it.
    """
    with _borrowed() as reader:
        return reader.parse(data, name, limits, passwords, on_wait)


@dataclass(slots=True)
class _Reader:
    """One reading process. It reads one file at a time."""

    process: subprocess.Popen[bytes]
    pipes: Pipes
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
            bufsize=0,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process, which then ends that one and all that it started
        )
        source, target = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stdin)
        reader = cls(process, Pipes(source.fileno(), target.fileno(), time.monotonic() + _STARTING_S), os.getpid())
        try:
            is_ready = read_frame(reader.pipes.read, MAX_HEADER) is not None
        except (ValueError, TimeoutError):
            is_ready = False
        if not is_ready:
            reader.stop()
            raise CitewellError(
                f"The process that reads files did not start (exit status {process.returncode}).",
                remedy=f"See what `{sys.executable} -m citewell.loading.worker` prints.",
            )
        return reader

    @property
    def is_alive(self) -> bool:
        # A forked process must leave its parent's readers alone.
        return self.owner == os.getpid() and self.process.poll() is None

    def parse(
        self,
        data: bytes,
        name: str,
        limits: Loading,
        passwords: Sequence[str],
        on_wait: Callable[[], None] | None,
    ) -> Parsed:
        header = {"name": name, "limits": limits.model_dump(mode="json"), "passwords": list(passwords)}
        self.pipes.on_wait = on_wait
        killer = _Killer(self, limits.max_seconds)
        try:
            killer.restart()
            # Where it has ended, so has its answer.
            with suppress(BrokenPipeError):
                write_frame(self.pipes.write, Frame(header, (data,)))
            frame = self._answer(killer, limits)
        except (TimeoutError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self.stop()
            raise _too_long(limits) if isinstance(error, TimeoutError) else _nonsense() from error
        finally:
            killer.stop()
        if frame is None:
            raise self._ended(killer, limits)
        try:
            if frame.header.get("last"):
                self.stop()
            return _result(frame)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self.stop()
            raise _nonsense() from error

    def _answer(self, killer: _Killer, limits: Loading) -> Frame | None:
        """The answer, after the signs of life before it, of which each page may give one."""
        most = int((limits.max_file_mb + _JSON_OF_TEXT * limits.max_text_mb + _ROOM_MB) * MEGABYTE)
        for _ in range(limits.max_pages + 1):
            frame = read_frame(self.pipes.read, most)
            if frame is None or "beat" not in frame.header:
                return frame
            killer.restart()
        raise ValueError("more signs of life than pages")

    def _ended(self, killer: _Killer, limits: Loading) -> CitewellError:
        with suppress(subprocess.TimeoutExpired):  # its pipe closes a little before it has ended
            self.process.wait(_ENDING_S)
        self.stop()
        if killer.has_killed:
            return _too_long(limits)
        status = self.process.returncode
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return DamagedFile(
            f"The process that reads it ended under it ({how}), as a damaged or hostile file can make it, or one that "
            f"takes more than max_memory_mb ({limits.max_memory_mb:,}).",
            remedy="Open it in the program that made it, save it again, and index that.",
        )

    def kill(self) -> None:
        """End the process, and what it has started."""
        if self.owner != os.getpid():
            return
        if sys.platform == "win32":
            self.process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """`kill`, and wait for the end."""
        self.kill()
        if self.owner == os.getpid():
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@dataclass(slots=True)
class _Killer:
    """Kills a reader after some seconds, unless restarted or stopped before. Its pipes have the same hour and a little
    more, for the case that something it has started holds their ends.
    """

    reader: _Reader
    seconds: float
    has_killed: bool = False
    _timer: threading.Timer | None = None

    def restart(self) -> None:
        self.stop()
        self.reader.pipes.deadline = time.monotonic() + self.seconds + _ENDING_S
        self._timer = threading.Timer(self.seconds, self._kill)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _kill(self) -> None:
        self.has_killed = True
        self.reader.kill()


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
    if "error" not in header:
        return parsed_of(frame)
    kind = getattr(errors, str(header["error"]), None)
    # Any other error would end more than this file.
    if not (isinstance(kind, type) and issubclass(kind, LoadError)):
        raise TypeError("an error of another kind")
    raise kind(str(header["message"]), remedy=str(header["remedy"]))


def _too_long(limits: Loading) -> LimitExceeded:
    return LimitExceeded(
        f"Reading it takes more than {limits.max_seconds:g} seconds.",
        remedy="Raise max_seconds in [loading] if the file is to be trusted.",
    )


def _nonsense() -> DamagedFile:
    return DamagedFile(
        "The process that reads it answered what it never does: the file may have taken hold of it.",
        remedy="Do not trust the file; find out where it came from.",
    )
