"""`citewell ask "QUESTION"`"""

from __future__ import annotations

from citewell.cli.explain import print_hits_table, print_trace
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
from citewell.cli.terminal import complain, one_line, out, place, plain, print_json
from citewell.cli.where import Where, condition
from citewell.shapes import ask_shape
from citewell.types import BETWEEN_SOURCES, Answer, Citation


def ask(
    question: Question,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_of: AsOf = None,
    where: Where = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Ask a question; the answer cites its sources."""
    from citewell.index import Index

    asked = question_text(question)
    with Index.open(at, settings=load_settings(settings)) as index:
        answer = index.ask(asked, principal=reader(groups), as_of=as_of, where=condition(where, index.fields))
    for warning in answer.warnings:
        complain(warning)
    if as_json:
        print_json(ask_shape(answer))
        return
    _print_answer(answer)
    if explain:
        print_hits_table(answer.hits)
        print_trace(answer.trace)


def _print_answer(answer: Answer) -> None:
    from rich.text import Text

    screen = out()
    if answer.abstained:
        screen.print(plain(answer.text), style="yellow")
        screen.print(f"Reason: {one_line(answer.reason)}.", style="dim")
        return
    text = Text(plain(answer.text))
    text.highlight_regex(r"\[\d+\]", "cyan")
    screen.print(text)
    screen.print()
    for citation in answer.citations:
        screen.print(Text.assemble((f"[{citation.n}] ", "cyan"), _where(citation)))
        screen.print(Text(f"    {plain(citation.link)}", "dim"), soft_wrap=True)
        if BETWEEN_SOURCES in citation.source:  # the link opens the outermost file only
            screen.print(
                Text(f"    in it: {place(citation.source).partition(BETWEEN_SOURCES)[2]}", "dim"), soft_wrap=True
            )


def _where(citation: Citation) -> str:
    page = f"page {citation.page}" if citation.page else ""
    parts = (citation.title or place(citation.source), "".join(citation.heading_path[-1:]), page)
    # A document of one section is often named as that is.
    return ", ".join(dict.fromkeys(one_line(part) for part in parts if part))
