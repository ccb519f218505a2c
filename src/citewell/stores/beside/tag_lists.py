"""For each tag the rows that have it, as three arrays that can be mapped from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.stores.beside.vector_index import Condition, Either, Every, Tagged, Without

Mask = NDArray[np.bool_]

TAG = np.dtype("S32")


@dataclass(frozen=True, slots=True)
class TagLists:
    """`names` are the tags in order; the rows of the tag at place i are `rows[starts[i]:starts[i + 1]]`.

    Shapes (tags,), (tags + 1,) and (one for each tag of each row,).
    """

    names: NDArray[np.bytes_]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, tags_of_rows: Sequence[Iterable[str]]) -> TagLists:
        tags = [list(tags) for tags in tags_of_rows]
        rows = np.repeat(np.arange(len(tags), dtype=np.int32), [len(one) for one in tags])
        names, codes = np.unique(np.array([tag for one in tags for tag in one], dtype=TAG), return_inverse=True)
        return _sorted(names, codes, rows)

    @classmethod
    def joined(cls, parts: Iterable[tuple[TagLists, Mask]]) -> TagLists:
        """The lists of several segments' rows one after the other, of each only those that its mask keeps."""
        names, codes, rows = [np.empty(0, TAG)], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        known, before = 0, 0
        for lists, mask in parts:
            kept = mask[lists.rows]
            places = np.repeat(np.arange(len(lists.names)), np.diff(lists.starts))
            names.append(lists.names)
            codes.append(places[kept] + known)
            rows.append((np.cumsum(mask) - 1)[lists.rows[kept]].astype(np.int32) + np.int32(before))
            known, before = known + len(lists.names), before + int(mask.sum())
        used, places = np.unique(np.concatenate(codes), return_inverse=True)
        distinct, renamed = np.unique(np.concatenate(names)[used], return_inverse=True)
        return _sorted(distinct, renamed[places], np.concatenate(rows))

    @classmethod
    def load(cls, path: Path) -> TagLists:
        """
        Raises:
            OSError, ValueError: a file is missing or damaged.
        """
        names, starts, rows = (np.load(file, mmap_mode="r") for file in cls.files(path))
        return cls(names, starts, rows)

    def save(self, path: Path) -> None:
        names, starts, rows = self.files(path)
        np.save(names, self.names)
        np.save(starts, self.starts)
        np.save(rows, self.rows)

    @staticmethod
    def files(path: Path) -> tuple[Path, Path, Path]:
        names, starts, rows = (path.with_name(f"{path.name}.{part}.npy") for part in ("names", "starts", "rows"))
        return names, starts, rows

    def meeting(self, condition: Condition, count: int) -> Mask:
        """Which of the `count` rows meet the condition."""
        match condition:
            case Tagged(tags):
                mask = np.zeros(count, dtype=np.bool_)
                for tag in tags:
                    mask[self._rows_with(tag)] = True
                return mask
            case Every(parts):
                return reduce(and_, [self.meeting(part, count) for part in parts])
            case Either(parts):
                return reduce(or_, [self.meeting(part, count) for part in parts])
            case Without(part):
                return ~self.meeting(part, count)

    def _rows_with(self, tag: str) -> NDArray[np.int32]:
        wanted = np.array(tag, dtype=TAG)
        place = int(np.searchsorted(self.names, wanted))
        if place == len(self.names) or self.names[place] != wanted:
            return self.rows[:0]
        return self.rows[self.starts[place] : self.starts[place + 1]]


def _sorted(names: NDArray[np.bytes_], codes: NDArray[np.int64], rows: NDArray[np.int32]) -> TagLists:
    """From one (place in `names`, row) pair for each tag of each row."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return TagLists(names, starts, rows[order])
