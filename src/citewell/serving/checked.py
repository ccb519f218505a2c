"""Files whose bytes were looked through: a part of one is sent without looking through all of it once more."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import IO, Self

MOST = 1_000
"""Files that are remembered; each takes about 400 bytes."""

SETTLED_S = 60
"""A file that changed more lately is not remembered. Its times may be the same after another change: file systems have
ticks of up to 2 s, and what a program writes into a file that it maps shows when it is written back, after 30 s."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What the file system says of an open file. No change of its bytes leaves all of this as it was, once the file is
    settled: the time of change, unlike that of modification, is set by nobody."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, file: IO[bytes]) -> Self:
        said = os.fstat(file.fileno())
        return cls(said.st_dev, said.st_ino, said.st_size, said.st_mtime_ns, said.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        return time.time_ns() - max(self.modified_ns, self.changed_ns) > SETTLED_S * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Checked:
    """The SHA-256 of files by their marks, of those that were asked for last. Safe to share between threads."""

    _digests: OrderedDict[Mark, str] = field(default_factory=OrderedDict)
    _keeping: threading.Lock = field(default_factory=threading.Lock)

    def has(self, mark: Mark, digest: str) -> bool:
        """Whether the file of this mark was found to have this SHA-256."""
        with self._keeping:
            known = self._digests.get(mark)
            if known is not None:
                self._digests.move_to_end(mark)
        return known == digest

    def keep(self, mark: Mark, digest: str) -> None:
        """What was found of a file that had this mark before and after, and was settled before."""
        with self._keeping:
            self._digests[mark] = digest
            self._digests.move_to_end(mark)
            if len(self._digests) > MOST:
                self._digests.popitem(last=False)
