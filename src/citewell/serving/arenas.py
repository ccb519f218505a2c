"""Memory that stays flat: the threads of a process share few of the C library's arenas."""

from __future__ import annotations

import ctypes
import os

MOST = 2
_M_ARENA_MAX = -8
"""Of glibc's malloc.h."""


def share_arenas() -> None:
    """An arena keeps what its threads have freed. With one for each of dozens of threads, a service that is asked for
    hours holds a third more memory than it has in use, and ever more. Elsewhere than with glibc, nothing is done."""
    if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}) and os.confstr("CS_GNU_LIBC_VERSION"):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, MOST)
