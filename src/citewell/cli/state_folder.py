"""Where the service keeps conversations, and what is said where it keeps none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.errors import PathError

if TYPE_CHECKING:
    from citewell.conversations import ConversationStore
    from citewell.settings import Settings

State = Annotated[
    Path | None,
    typer.Option("--state", metavar="DIR", readable=False, help="The service's folder; that of the settings."),
]


def conversations_at(folder: Path | None, settings: Settings) -> ConversationStore:
    """The conversations in the folder of `--state`, or of the settings.

    Raises:
        PathError: there are none.
    """
    from citewell.conversations import ConversationStore

    place = folder or Path(settings.service.state)
    store = ConversationStore.existing(place, settings.service.conversation_days)
    if store is None:
        raise PathError(
            f"No service has kept conversations in {place}.",
            remedy="Name its folder with --state, or as `state` in [service].",
        )
    return store
