"""What a language model writes, shown at a terminal until the checked answer takes its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from citewell.cli.terminal import out, plain
from citewell.types import Listener, Step

if TYPE_CHECKING:
    from rich.live import Live


class _Shown:
    """A listener that shows the draft so far."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._draft = ""

    def step(self, step: Step) -> None:  # noqa: ARG002 - the protocol's
        """What comes after a step is another draft."""
        self._draft = ""

    def draft(self, piece: str) -> None:
        from rich.text import Text

        self._draft += piece
        self._live.update(Text(plain(self._draft), "dim"))


@contextmanager
def drafted(*, wanted: bool) -> Iterator[Listener | None]:
    """A listener that shows the draft at a terminal, and takes it away at the end; None where there is no terminal."""
    from rich.live import Live

    screen = out()
    if not wanted or not screen.is_terminal:
        yield None
        return
    with Live(console=screen, transient=True, refresh_per_second=8) as live:
        yield _Shown(live)
