"""FAISS beside a store: vectors in segments in one folder, searched whole or by their short forms, never by a graph.

A graph, or a choice of cells, loses results in silence once a filter is set: in the worst case measured 0.4 of 10 were
left. Comparing all that is allowed loses none, and by short forms takes milliseconds for a million.

`state.json` names the state and its segments, and replacing it is the commit. Each commit adds a segment and marks in
the others what is dropped; eight segments of a size are merged into one, so a vector is rewritten once for each size.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from citewell.stores import files
from citewell.stores.beside import faiss_segment
from citewell.stores.beside.faiss_segment import Nearness, Quantise, Rows, Segment
from citewell.stores.beside.vector_index import Allowed, Found, Points

if TYPE_CHECKING:
    from citewell.models.embedder import Vectors

FILE = "state.json"

MERGED_AT_ONCE = 8
SMALLEST = 2_048
"""Segments with fewer rows are of one size, those with fewer than eight times as many of the next."""
MAX_DEAD_SHARE = 0.5

COMPARED_WHOLE: Mapping[Quantise, tuple[int, int]] = {"none": (1, 1), "int8": (4, 100), "binary": (20, 1_000)}
"""How many of the nearest by their short forms are compared whole: so many times k, and at least so many. By signs
alone, 200 would be enough for 99 of 100 results on vectors of real texts, and for 76 on the hardest of ours."""


@dataclass(frozen=True, slots=True)
class State:
    """What `state.json` says. `segments` maps each to the versions dropped from it."""

    name: str = ""
    segments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_SHAPE = TypeAdapter(State)


@dataclass(frozen=True, slots=True)
class _Opened:
    signature: files.Signature | None
    state: State
    segments: tuple[Segment, ...]


class _Near(NamedTuple):
    """Rows of one segment, and how near they are."""

    segment: Segment
    nearness: Nearness
    rows: Rows


_NOTHING = _Opened(None, State(), ())


class FaissIndex:
    """A `VectorIndex` in a folder of its own. Opening it writes nothing."""

    def __init__(self, folder: Path, quantise: Quantise) -> None:
        self._folder = folder
        self._quantise = quantise
        self._newest = _NOTHING
        self._one_opening = threading.Lock()

    def state(self) -> str:
        return self._open().state.name

    def apply(self, put: Points, drop: Collection[str], state: str) -> None:
        """See `VectorIndex.apply`.

        Raises:
            PermissionRefused, DiskFull: the file system refuses.
        """
        before = self._open()
        files.make_folder(self._folder)
        try:
            kept = [left for segment in before.segments if (left := self._without(segment, drop)).alive]
            if put.points:
                kept.append(self._written(partial(faiss_segment.write, put)))
            while merged := _due(kept):
                one = self._written(partial(faiss_segment.merge, merged))
                kept = [*(segment for segment in kept if segment not in merged), one]
        except OSError as error:
            raise files.meaning(error, self._folder) from None
        after = State(state, {one.name: tuple(sorted(one.dropped)) for one in kept})
        files.replace(self._folder / FILE, _SHAPE.dump_json(after))
        self._remove_but(kept)

    def search(self, vector: Vectors, k: int, allowed: Allowed, *, exact: bool) -> list[Found]:
        segments = self._open().segments
        times, least = COMPARED_WHOLE[self._quantise]
        enough = max(times * k, least)
        by_short = [segment for segment in segments if segment.has_short and not exact]
        near = [
            _Near(segment, *segment.nearest(vector, k, allowed, short=False))
            for segment in segments
            if segment not in by_short
        ]
        candidates = [_Near(segment, *segment.nearest(vector, enough, allowed, short=True)) for segment in by_short]
        near += [_Near(segment, segment.cosines(vector, rows), rows) for segment, _, rows in _best(enough, candidates)]
        return [found for segment, _, rows in _best(k, near) for found in segment.found(rows)]

    def reset(self) -> None:
        """See `VectorIndex.reset`.

        Raises:
            PermissionRefused: the file system refuses.
        """
        self._newest = _NOTHING
        if self._folder.exists():
            try:
                # The state goes first: segments that it does not name are nobody's.
                (self._folder / FILE).unlink(missing_ok=True)
                self._remove_but(())
            except OSError as error:
                raise files.meaning(error, self._folder) from None

    def close(self) -> None:
        self._newest = _NOTHING

    def _open(self) -> _Opened:
        """The newest state; that of an empty index where there is none, or where its files are missing or damaged."""
        with self._one_opening:
            signature = self._signature()
            if signature is None:
                return _NOTHING
            if self._newest.signature != signature:
                self._newest = self._read(signature)
            return self._newest

    def _read(self, signature: files.Signature) -> _Opened:
        known = {(one.name, one.dropped): one for one in self._newest.segments}
        try:
            state = _SHAPE.validate_json((self._folder / FILE).read_bytes())
            segments = [
                known.get((name, frozenset(dropped))) or Segment(self._folder, name, self._quantise, dropped)
                for name, dropped in state.segments.items()
            ]
        except (OSError, ValueError, RuntimeError):
            # A writer has just replaced them, or they are damaged. An index without a state is one that is behind: it
            # is not asked, `stale` tells, and the next writer makes it anew.
            return _Opened(signature, State(), ())
        return _Opened(signature, state, tuple(segments))

    def _signature(self) -> files.Signature | None:
        try:
            status = (self._folder / FILE).stat()
        except FileNotFoundError:
            return None
        return status.st_mtime_ns, status.st_ino, status.st_size

    def _written(self, write: Callable[[Path, str, Quantise], Iterable[Path]]) -> Segment:
        """A new segment, by a name that none ever had: who has one open goes by its name."""
        name = uuid.uuid4().hex
        _sync(write(self._folder, name, self._quantise))
        return Segment(self._folder, name, self._quantise, ())

    def _without(self, segment: Segment, drop: Collection[str]) -> Segment:
        gone = segment.dropped | {version for version in drop if segment.holds(version)}
        return segment if gone == segment.dropped else Segment(self._folder, segment.name, self._quantise, gone)

    def _remove_but(self, segments: Iterable[Segment]) -> None:
        """Remove the files of all other segments. Who has them mapped goes on reading them."""
        kept = {segment.name for segment in segments}
        for path in self._folder.iterdir():
            name = path.name.partition(".")[0]
            if name not in kept and path.name != FILE:
                path.unlink()


def _best(k: int, near: Sequence[_Near]) -> list[_Near]:
    """The k nearest of all, and those that are as near as the last of them."""
    every = np.concatenate([np.empty(0, np.float32), *(one.nearness for one in near)])
    least = np.partition(every, -k)[-k] if len(every) > k else -np.inf
    kept = [(one, one.nearness >= least) for one in near]
    return [_Near(one.segment, one.nearness[mask], one.rows[mask]) for one, mask in kept if mask.any()]


def _due(segments: Sequence[Segment]) -> list[Segment]:
    """Segments to be merged into one now: eight of a size, or any of which more than half is dropped."""
    sizes: dict[int, list[Segment]] = defaultdict(list)
    for segment in segments:
        if segment.alive < segment.rows * (1 - MAX_DEAD_SHARE):
            return [segment]
        sizes[_size(segment.alive)].append(segment)
    return next((group for group in sizes.values() if len(group) >= MERGED_AT_ONCE), [])


def _size(rows: int) -> int:
    size, limit = 0, SMALLEST
    while rows >= limit:
        size, limit = size + 1, limit * MERGED_AT_ONCE
    return size


def _sync(paths: Iterable[Path]) -> None:
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
