"""Whether an upload may take the place of what is there. A job asks again in its turn: much may have changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.index import Index
from citewell.loading import document_id
from citewell.serving import side_files
from citewell.serving.problems import Conflict, Forbidden
from citewell.serving.side_files import About
from citewell.types import EVERYONE, Principal, Trust, Version

LESS = (Trust.UNTRUSTED, Trust.UNREVIEWED, Trust.APPROVED)
"""From the least trusted on."""


@dataclass(frozen=True, slots=True)
class Uploader:
    """Who uploads, and whether they said that what is there may be replaced."""

    reader: Principal
    is_admin: bool
    replace: bool


def require_places(index: Index, places: Sequence[Path], about: About, uploader: Uploader) -> None:
    """Raises: as `require_place`, for the first that is refused."""
    current = versions_at(index, places)
    for place in places:
        require_place(place, current.get(place), about, uploader)


def versions_at(index: Index, places: Sequence[Path]) -> dict[Path, Version]:
    """What the index has of files at these places now, as far as it has any."""
    ids = {place: document_id(place.as_uri()) for place in places}
    current = index.current([*ids.values()])
    return {place: current[one] for place, one in ids.items() if one in current}


def require_place(place: Path, current: Version | None, about: About, uploader: Uploader) -> None:
    """`current` is what the index has of it. What an admin has said of readers and trust holds on.

    Raises:
        Conflict: something is there that is not to be replaced, or not for others than it is for now.
        Forbidden: it would be trusted more.
    """
    if current is not None and not uploader.replace:
        raise Conflict(f"You have uploaded a file {place.name!r} before.", remedy="Set `replace`, or use another name.")
    if uploader.is_admin or not place.exists():
        return
    said = side_files.read(place)
    groups = frozenset(said["groups"]) if "groups" in said else None
    for now in (groups, current.rights.groups if current is not None else None):
        if now is not None:
            _require_readers(place, about, now, uploader.reader)
    require_trust(about, Trust(said.get("trust", Trust.UNREVIEWED)))


def require_trust(about: About, before: Trust) -> None:
    """Raises Forbidden: more trust than before is said. Where it is said that nothing is said, it is unreviewed."""
    trust = about.trust or Trust.UNREVIEWED
    if "trust" in about.model_fields_set and LESS.index(trust) > LESS.index(before):
        raise Forbidden(
            "Only an admin may say that a text can be trusted more.", remedy="Ask whoever runs the service."
        )


def _require_readers(place: Path, about: About, now: frozenset[str], reader: Principal) -> None:
    if now.isdisjoint(reader.readable):
        raise Conflict(f"{place.name!r} cannot be replaced.", remedy="Use another name.")
    if about.groups is not None and EVERYONE not in now and not now.issuperset(about.groups):
        raise Conflict(
            f"{place.name!r} is for fewer readers now.", remedy="Name none but its groups, or use another name."
        )
