"""`citewell ask "QUESTION"`"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from typing import Annotated

import typer

from citewell.cli.drafting import drafted
from citewell.cli.explain import print_expansion, print_floor, print_hits_table, print_kept_back, print_trace
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
from citewell.cli.terminal import complain, one_line, out, place, plain, print_json
from citewell.cli.where import Where, condition
from citewell.shapes import ask_shape
from citewell.types import BETWEEN_SOURCES, Answer, Citation, Turn

Chat = Annotated[bool, typer.Option("--chat", help="Read more questions, one a line; they may lean on those before.")]


def ask(  # noqa: PLR0913, PLR0917 - each is an option of the command
    question: Question,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_of: AsOf = None,
    where: Where = None,
    chat: Chat = False,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Ask a question; the answer cites its sources."""
    from citewell.index import Index

    if chat and question == "-":
        raise typer.BadParameter("With --chat, give the first question itself: standard input holds those after it.")
    asked, principal = question_text(question), reader(groups)
    turns: list[Turn] = []
    with Index.open(at, settings=load_settings(settings)) as index:
        tell_of_unknown_groups(index, groups, as_of)
        filtered = condition(where, index.fields)
        for each in chain([asked], _typed() if chat else ()):
            with drafted(wanted=not as_json) as listener:
                answer = index.ask(
                    each, turns=turns, principal=principal, as_of=as_of, where=filtered, listener=listener
                )
            if turns and not as_json:
                out().print(f"\n{one_line(answer.question)}", style="bold", soft_wrap=True)
            _show(answer, explain=explain, as_json=as_json)
            if explain and not as_json and answer.searched:
                print_expansion(index.expanded(answer.searched[0]))
            turns.append(Turn(answer.question, answer.text))


def _typed() -> Iterator[str]:
    """The questions that follow, one a line, until the end of the input; at a terminal also until an empty line."""
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        print("The next question, or an empty line to end:", file=sys.stderr)
    for line in sys.stdin.buffer:
        if line.strip():
            yield line.decode(errors="replace").strip()
        elif is_terminal:
            break


def _show(answer: Answer, *, explain: bool, as_json: bool) -> None:
    for warning in answer.warnings:
        complain(warning)
    if as_json:
        print_json(ask_shape(answer))
        return
    _print_answer(answer)
    if explain:
        for searched in answer.searched[1:]:
            out().print(f"Searched too: {one_line(searched)}", style="dim", soft_wrap=True)
        for decision in answer.decisions:
            out().print(one_line(decision), style="dim", soft_wrap=True)
        print_hits_table(answer.hits)
        print_kept_back(answer.kept_back)
        if answer.floor is not None:
            print_floor(answer.floor)
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
