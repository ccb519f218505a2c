"""The C library's arenas, as it counts them itself."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from citewell.serving.arenas import MOST

# Forty threads that ask for memory at the same time, and then how many arenas there are.
COUNTED = """
import ctypes, sys, threading
from citewell.serving.arenas import share_arenas
if sys.argv[1] == "shared":
    share_arenas()
libc, together = ctypes.CDLL(None), threading.Barrier(40)
libc.malloc.restype, libc.fopen.restype = ctypes.c_void_p, ctypes.c_void_p
def ask():
    together.wait()
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=ask) for _ in range(40)]
for thread in threads: thread.start()
for thread in threads: thread.join()
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
print(open(sys.argv[2]).read().count("<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="The arenas are glibc's.")
def test_threads_share_few_arenas(tmp_path: object) -> None:
    def arenas(how: str) -> int:
        given = [sys.executable, "-c", COUNTED, how, f"{tmp_path}/info.xml"]
        return int(subprocess.run(given, check=True, capture_output=True, text=True).stdout)

    assert arenas("shared") <= MOST
    assert arenas("as they are") > MOST
