"""`citewell search "QUERY"`"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Annotated

import typer

from citewell.cli.explain import passage_name, print_expansion, print_floor, print_hits_table
from citewell.cli.options import (
    DEFAULT_INDEX,
    AsGroups,
    AsOf,
    Explain,
    IndexPlace,
    Json,
    Question,
    SettingsFile,
    load_settings,
    question_text,
    reader,
)
from citewell.cli.reading_as import tell_of_unknown_groups
from citewell.cli.terminal import one_line, out, plain, print_indented, print_json
from citewell.cli.where import Where, condition
from citewell.shapes import search_shape
from citewell.types import Hit

SHOWN_CHARS = 300

Keep = Annotated[int | None, typer.Option("-k", metavar="N", min=1, max=1_000, help="How many passages.")]


def search(  # noqa: PLR0913, PLR0917 - each is an option of the command
    query: Question,
    k: Keep = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_of: AsOf = None,
    where: Where = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Find passages, best first, without an answer."""
    from citewell.index import Index
    from citewell.retrieval.floor import evidence

    words = question_text(query)
    with Index.open(at, settings=load_settings(settings)) as index:
        tell_of_unknown_groups(index, groups, as_of)
        wanted = condition(where, index.fields)
        hits = index.search(words, k=k, principal=reader(groups), as_of=as_of, where=wanted)
        expansion, floor = (index.expanded(words), index.floor) if explain else ((), None)
    if as_json:
        print_json(search_shape(words, hits))
        return
    _print_hits(hits)
    if floor is not None:
        print_hits_table(hits, evidence(words, hits))
        print_floor(floor)
        print_expansion(expansion)


def _print_hits(hits: Sequence[Hit]) -> None:
    from rich.text import Text

    screen = out()
    if not hits:
        screen.print("Nothing found.", style="yellow")
    for hit in hits:
        screen.print(Text.assemble((f"{hit.rank}. ", "cyan"), (passage_name(hit.chunk), "bold")))
        print_indented(textwrap.shorten(one_line(hit.chunk.text), SHOWN_CHARS, placeholder=" …"), 3)
        screen.print(Text(f"   {plain(hit.chunk.id)}", "dim"), soft_wrap=True)
        for chunk in hit.alike:
            screen.print(Text(f"   nearly the same: {passage_name(chunk)}", "dim"), soft_wrap=True)
