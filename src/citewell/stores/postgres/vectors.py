"""pgvector's `vector` and `sparsevec` to and from numpy, in their binary forms.

A vector is its dimensions, a reserved number and the float32s; a sparse one its dimensions, the number of its terms, a
reserved number, the terms and the float32s.
"""

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
from citewell.models.sparse import SparseVector

TERMS = 1_000_000_000
"""The dimensions of every sparse vector: a term's number is below. The type has room for no more."""

_HEAD, _SPARSE_HEAD = struct.Struct("!HH"), struct.Struct("!iii")
_BIG_ENDIAN, _TERM = np.dtype(">f4"), np.dtype(">i4")


class _VectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: NDArray[np.float32]) -> bytes:
        return _HEAD.pack(len(obj), 0) + obj.astype(_BIG_ENDIAN).tobytes()


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Vectors:
        return np.frombuffer(bytes(data), _BIG_ENDIAN, offset=_HEAD.size).astype(np.float32)


class _SparseDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: SparseVector) -> bytes:
        head = _SPARSE_HEAD.pack(TERMS, len(obj.terms), 0)
        return head + obj.terms.astype(_TERM).tobytes() + obj.weights.astype(_BIG_ENDIAN).tobytes()


class _SparseLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> SparseVector:
        whole = bytes(data)
        _, count, _ = _SPARSE_HEAD.unpack_from(whole)
        terms = np.frombuffer(whole, _TERM, count, _SPARSE_HEAD.size)
        weights = np.frombuffer(whole, _BIG_ENDIAN, count, _SPARSE_HEAD.size + terms.nbytes)
        return SparseVector(terms.astype(np.uint32), weights.astype(np.float32))


def register(connection: Connection) -> None:
    """Let a connection pass vectors, where the server has them. The numbers of their types differ from database to
    database."""
    for name, kind, dumper, loader in (
        ("vector", np.ndarray, _VectorDumper, _VectorLoader),
        ("sparsevec", SparseVector, _SparseDumper, _SparseLoader),
    ):
        info = TypeInfo.fetch(connection, name)
        if info is not None:
            info.register(connection)
            connection.adapters.register_dumper(kind, type(dumper.__name__, (dumper,), {"oid": info.oid}))
            connection.adapters.register_loader(info.oid, loader)
