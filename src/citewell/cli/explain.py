"""How an answer came about, as tables: the ranks of each passage in every leg, and the steps with their times."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.cli.terminal import one_line, out, place, print_table
from citewell.types import Chunk, Hit, Step

EXPANDED = 20
"""Terms shown of a sparse query."""


def passage_name(chunk: Chunk) -> str:
    """Title, section and pages of a passage, in a line."""
    parts = (chunk.title or place(chunk.source), "".join(chunk.heading_path[-1:]), _pages(chunk))
    return ", ".join(one_line(part) for part in parts if part)


def print_hits_table(hits: Sequence[Hit]) -> None:
    from rich.table import Table

    if not hits:
        return
    legs = sorted({leg for hit in hits for leg in hit.lists})
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("passage")
    for name in (*legs, hits[0].scale, "cosine"):
        table.add_column(name, justify="right", no_wrap=True)
    for hit in hits:
        ranks = [str(hit.lists.get(leg, "–")) for leg in legs]
        table.add_row(str(hit.rank), passage_name(hit.chunk), *ranks, f"{hit.score:.4f}", f"{hit.cosine:.3f}")
    print()
    print_table(table)


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
