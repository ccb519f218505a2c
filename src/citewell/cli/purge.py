"""`citewell purge ID`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from citewell.cli.confirming import Yes, is_meant
from citewell.cli.options import DEFAULT_INDEX, IdOrFolder, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.receipt import print_receipt
from citewell.cli.terminal import complain, count, one_line, out, print_json
from citewell.errors import UnknownId
from citewell.shapes import VERSION, receipt_shape

if TYPE_CHECKING:
    from citewell.settings import Settings
    from citewell.types import Receipt


def purge(
    wanted: IdOrFolder,
    yes: Yes = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Remove documents and all their versions for good."""
    from citewell.index import Index

    loaded = load_settings(settings)
    with Index.open(at, settings=loaded) as index:
        if not (yes or is_meant(f"Remove every version of {one_line(wanted)} for good?")):
            complain("nothing was purged")
            raise typer.Exit(1)
        try:
            receipt = index.purge(wanted)
        except UnknownId:
            # One that was cut short may have left conversations.
            turns = _forget(wanted, None, loaded)
            if not turns:
                raise
            _tell_turns_alone(wanted, turns, as_json)
            return
    turns = _forget(wanted, receipt, loaded)
    if as_json:
        print_json({**receipt_shape(receipt), "turns": turns})
        return
    print_receipt(receipt)
    if turns:
        out().print(f"Purged {_of_conversations(turns)} that showed it.", style="bold")
    out().print("No file of the index holds any of it now. Where its file still lies, `citewell index` adds it again.")


def _forget(wanted: str, receipt: Receipt | None, settings: Settings) -> int:
    """Remove what the service's conversations show of it; how many turns these were.

    Its evaluations and comparisons quote documents: they go whole.
    """
    from citewell.conversations import ConversationStore
    from citewell.serving.jobs import Jobs
    from citewell.serving.state import State

    store = ConversationStore.existing(Path(settings.service.state), settings.service.conversation_days)
    if store is None:
        return 0
    named = store.named(wanted)
    # Also where nothing of it is found any more: a purge that was cut short leaves what evaluations quote.
    Jobs(State.at(settings.service.state)).forget_texts()
    purged = {removed.document_id for removed in receipt.removed} if receipt is not None else set()
    return store.forget(purged | named)


def _tell_turns_alone(wanted: str, turns: int, as_json: bool) -> None:
    if as_json:
        gone = {"deleted": wanted, "purged": True, "kept_until": None, "removed": [], "turns": turns}
        print_json({"version": VERSION, **gone})
    else:
        out().print(f"The index has nothing of it. Purged {_of_conversations(turns)} that showed it.", style="bold")


def _of_conversations(turns: int) -> str:
    return f"{count(turns, 'turn')} of conversations"
