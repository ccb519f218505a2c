"""How an answer came about, as tables: the ranks of each passage in every leg, and the steps with their times."""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.cli.terminal import one_line, out, place, print_table
from citewell.types import Chunk, Floor, Hit, KeptBack, Step

EXPANDED = 20
"""Terms shown of a sparse query."""


def passage_name(chunk: Chunk) -> str:
    """Title, section and pages of a passage, in a line."""
    parts = (chunk.title or place(chunk.source), "".join(chunk.heading_path[-1:]), _pages(chunk))
    return ", ".join(one_line(part) for part in parts if part)


def print_hits_table(hits: Sequence[Hit], evidence: Sequence[float] = ()) -> None:
    """`evidence` is that of each hit, where it is known."""
    from rich.table import Table

    if not hits:
        return
    shown = [format_evidence(value) for value in evidence] or [""] * len(hits)
    legs = sorted({leg for hit in hits for leg in hit.lists})
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("passage")
    for name in (*legs, hits[0].scale, "cosine", *(["evidence"] if evidence else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for hit, value in zip(hits, shown, strict=True):
        ranks = [str(hit.lists.get(leg, "–")) for leg in legs]
        numbers = [f"{hit.score:.4f}", f"{hit.cosine:.3f}", *([value] if evidence else [])]
        table.add_row(str(hit.rank), passage_name(hit.chunk), *ranks, *numbers)
    print()
    print_table(table)


def print_floor(floor: Floor) -> None:
    """Which is in force, and why there is none."""
    least = f"{floor.least:.2f}, {floor.origin.value}" if floor.least is not None else f"none, {floor.origin.value}"
    out().print(f"Floor: {least} (docs/floor.md says what evidence is).", style="dim")


def print_kept_back(back: Sequence[KeptBack]) -> None:
    """What was found and is not answered from, the nearest first."""
    from rich.table import Table

    if not back:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("found, and not answered from")
    for name in ("cosine", "evidence"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("because")
    for each in back:
        name, cosine = passage_name(each.hit.chunk), f"{each.hit.cosine:.3f}"
        table.add_row(name, cosine, format_evidence(each.evidence), each.why)
    print()
    print_table(table)


def format_evidence(value: float) -> str:
    """A code of the question decides by itself, and is no number."""
    if math.isinf(value):
        return "has the code" if value > 0 else "–"
    return f"{value:.3f}"


def print_expansion(words: Sequence[tuple[str, float]]) -> None:
    """What the sparse leg searches for, the heaviest first."""
    if words:
        shown = ", ".join(f"{one_line(word)} {weight:.2f}" for word, weight in words[:EXPANDED])
        more = f", and {len(words) - EXPANDED:,} more" if len(words) > EXPANDED else ""
        print()
        out().print(f"Sparse terms: {shown}{more}", style="dim", soft_wrap=True)


def print_trace(steps: Sequence[Step]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("step")
    for name in ("ms", "in", "out"):
        table.add_column(name, justify="right")
    for step in steps:
        table.add_row(step.name, f"{step.ms:.1f}", str(step.count_in), str(step.count_out))
    print()
    print_table(table)


def _pages(chunk: Chunk) -> str:
    if not chunk.pages:
        return ""
    first, last = chunk.pages[0][1], chunk.pages[-1][1]
    return f"page {first}" if first == last else f"pages {first}–{last}"
