"""Groups given with `--as` that no document is for: what is hidden from them looks as if it were missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from citewell.cli.terminal import complain

ACCESS = "citewell-access.toml"

if TYPE_CHECKING:
    from citewell.index import Index


def tell_of_unknown_groups(index: Index, groups: Sequence[str] | None, as_of: date | None = None) -> None:
    """Say on standard error which of the groups have nothing of their own to read, and which may have been meant.

    Only for who has the index on disk: which groups there are is itself a secret of the index.
    """
    for group, near in index.unknown_groups(groups or (), as_of=as_of).items():
        meant = f"Is {near!r} meant? " if near else ""
        complain(
            f"no document of this index is for the group {group!r}; it reads what everyone may.",
            f"{meant}`citewell show` names the groups of a document, and {ACCESS} gives them.",
        )
