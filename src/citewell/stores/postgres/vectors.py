"""pgvector's `vector` to and from numpy, in its binary form: dimensions, a reserved number, then the float32s."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from citewell.models.embedder import Vectors

_HEAD = struct.Struct("!HH")
_BIG_ENDIAN = np.dtype(">f4")


class _VectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: NDArray[np.float32]) -> bytes:
        return _HEAD.pack(len(obj), 0) + obj.astype(_BIG_ENDIAN).tobytes()


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Vectors:
        return np.frombuffer(bytes(data), _BIG_ENDIAN, offset=_HEAD.size).astype(np.float32)


def register(connection: Connection, info: TypeInfo) -> None:
    """Let a connection pass vectors. `info` is the server's type, whose number differs from database to database."""
    info.register(connection)
    dumper = type("VectorDumper", (_VectorDumper,), {"oid": info.oid})
    connection.adapters.register_dumper(np.ndarray, dumper)
    connection.adapters.register_loader(info.oid, _VectorLoader)
