"""Blocks to elements: none that is empty or only closes what stands above, and short neighbours as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

from citewell.loading.code.lines import Block, only_closes

# Characters. A line or two is a passage that says too little to be found: bench/codebase.py has the figures.
_SHORT = 700
_LONGEST_PATH = 90


@dataclass(frozen=True, slots=True)
class Stretch:
    """The lines from `first` up to `end`, neither the first nor the last of them blank, of one block or several."""

    first: int
    end: int
    blocks: tuple[Block, ...]

    @property
    def lead(self) -> tuple[str, ...]:
        """The classes and the signature that all of it stands under."""
        return _common([block.lead for block in self.blocks])

    @property
    def is_definition(self) -> bool:
        """Whether it holds one, or a part of one."""
        return any(block.lead for block in self.blocks)

    def path(self, joint: str) -> tuple[str, ...]:
        """The qualified name; of several, what they share and then each one's rest: `Fees.of, count`."""
        names = [tuple(name.split(joint)) for block in self.blocks for name in block.path]
        shared = _common(names)
        rests = list(dict.fromkeys(joint.join(name[len(shared) :]) for name in names if len(name) > len(shared)))
        room = _LONGEST_PATH - len(joint.join(shared))
        kept = [rest for number, rest in enumerate(rests) if not number or len(", ".join(rests[: number + 1])) <= room]
        path = joint.join(filter(None, (joint.join(shared), ", ".join(kept))))
        return (path,) if path else ()


def stretches(lines: Sequence[str], blocks: Sequence[Block]) -> list[Stretch]:
    """The blocks that hold anything, each by itself."""
    found: list[Stretch] = []
    for block, end in zip(blocks, [*(following.start for following in blocks[1:]), len(lines)], strict=True):
        filled = [number for number in range(block.start, end) if lines[number].strip()]
        if not filled:
            continue
        if found and only_closes(lines[filled[0] : filled[-1] + 1]):
            found[-1] = Stretch(found[-1].first, filled[-1] + 1, found[-1].blocks)
        else:
            found.append(Stretch(filled[0], filled[-1] + 1, (block,)))
    return found


def together(found: Sequence[Stretch], offsets: Sequence[int]) -> list[Stretch]:
    """Neighbours that are short together as one; `offsets` are the characters that stand before each line."""
    joined: list[Stretch] = []
    for stretch in found:
        if joined and offsets[stretch.end] - offsets[joined[-1].first] <= _SHORT:
            joined[-1] = Stretch(joined[-1].first, stretch.end, (*joined[-1].blocks, *stretch.blocks))
        else:
            joined.append(stretch)
    return joined


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What all of them begin with."""
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return tuple(chain.from_iterable(level[:1] for level in levels))
