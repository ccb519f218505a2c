"""`citewell conversations list | show | delete`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.confirming import Yes, is_meant
from citewell.cli.options import DEFAULT_INDEX, AsGroups, IndexPlace, Json, SettingsFile, load_settings, reader, words
from citewell.cli.reading_as import tell_of_unknown_groups
from citewell.cli.state_folder import State, conversations_at
from citewell.cli.terminal import complain, count, moment, one_line, out, plain, print_indented, print_json, print_table
from citewell.shapes import VERSION

if TYPE_CHECKING:
    from citewell.conversations import Conversation, StoredTurn
    from citewell.shapes import Shape

app = typer.Typer(help="Look at the conversations that the service keeps.", rich_markup_mode=None)

Wanted = Annotated[str, typer.Argument(metavar="ID", parser=words, help="A conversation's id.")]
OfCaller = Annotated[str | None, typer.Option("--caller", metavar="NAME", parser=words, help="Only this caller's.")]


@app.command(name="list")
def list_(
    caller: OfCaller = None,
    state: State = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_json: Json = False,
) -> None:
    """List the conversations of all callers, the newest first."""
    loaded = load_settings(settings)
    store = conversations_at(state, loaded)
    from citewell.conversations import Access, conversations_shape
    from citewell.index import Index

    with Index.open(at, settings=loaded) as index:
        tell_of_unknown_groups(index, groups)
        access = Access.to(index, reader(groups))
        callers = store.callers() if caller is None else (caller,)
        found = [each for name in callers for each in store.of(name, access).listed(limit=-1)]
    found.sort(key=lambda each: each.changed, reverse=True)
    print_json(conversations_shape(found)) if as_json else _print_list(found)


@app.command()
def show(
    wanted: Wanted,
    state: State = None,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_json: Json = False,
) -> None:
    """Show a conversation, as a reader may see it now."""
    loaded = load_settings(settings)
    store = conversations_at(state, loaded)
    from citewell.conversations import Access, conversation_shape
    from citewell.index import Index

    with Index.open(at, settings=loaded) as index:
        tell_of_unknown_groups(index, groups)
        access = Access.to(index, reader(groups))
        conversation, turns = store.of(store.caller_of(wanted), access).read(wanted)
    if as_json:
        print_json(conversation_shape(conversation, turns))
        return
    out().print(one_line(conversation.title), style="bold")
    out().print(f"{one_line(conversation.caller)}, {moment(conversation.changed)}", style="dim")
    for turn in turns:
        _print_turn(turn)


@app.command()
def delete(
    wanted: Wanted, yes: Yes = False, state: State = None, settings: SettingsFile = None, as_json: Json = False
) -> None:
    """Remove a conversation and its feedback for good."""
    store = conversations_at(state, load_settings(settings))
    from citewell.conversations import Access
    from citewell.types import Principal

    nothing = Access(Principal(), lambda _: frozenset())
    conversations = store.of(store.caller_of(wanted), nothing)
    if not (yes or is_meant(f"Remove the conversation {one_line(wanted)} for good?")):
        complain("nothing was removed")
        raise typer.Exit(1)
    conversations.delete(wanted)
    deleted: Shape = {"version": VERSION, "deleted": wanted}
    print_json(deleted) if as_json else out().print(f"Removed {one_line(wanted)}.")


def _print_list(found: list[Conversation]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("conversation", "id", "caller", "turns", "last"):
        table.add_column(column, overflow="fold")
    for each in found:
        table.add_row(one_line(each.title), each.id, one_line(each.caller), f"{each.turns:,}", moment(each.changed))
    print_table(table)
    if not found:
        out().print("No conversations.", style="yellow")


def _print_turn(turn: StoredTurn) -> None:
    screen, answer = out(), turn.answer
    screen.print(f"\n{one_line(turn.question)}", style="bold", soft_wrap=True)
    if turn.withheld:
        screen.print("Withheld: it shows what this reader may not read.", style="yellow")
        return
    screen.print(plain(answer["answer"]), style="yellow" if answer["abstained"] else "")
    for citation in answer["citations"]:
        where = (citation["title"] or citation["source"], citation["section"], citation["page"])
        print_indented(f"[{citation['n']}] {', '.join(one_line(part) for part in where if part)}", 2)
    for warning in answer["warnings"]:
        print_indented(one_line(warning), 2)
    said = turn.feedback
    if said is not None:
        wrong = f"{count(len(said.wrong), 'wrong source')} ({', '.join(map(str, said.wrong))})" if said.wrong else ""
        thumb = f"thumb {said.thumb}" if said.thumb is not None else ""
        print_indented(" · ".join(part for part in (thumb, wrong, one_line(said.comment)) if part), 2)
