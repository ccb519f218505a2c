"""`citewell status`"""

from __future__ import annotations

from citewell.cli.facts import print_facts
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import print_json
from citewell.shapes import status_shape
from citewell.types import Floor


def status(at: IndexPlace = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False) -> None:
    """Show the index in numbers."""
    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        state = index.status()
    if as_json:
        print_json(status_shape(state))
        return
    print_facts(
        [
            ("index", state.path),
            ("documents", f"{state.documents:,}"),
            ("past versions", f"{state.past_versions:,}"),
            ("chunks", f"{state.chunks:,}"),
            ("entries", f"{state.entries:,}"),
            ("embedder", state.embedder),
            ("sparse encoder", state.sparse or "none"),
            ("analyser", state.analyser),
            ("generation", str(state.generation)),
            ("created", state.created),
            ("on disk", f"{state.bytes_on_disk / 1e6:,.1f} MB"),
            ("floor", _floor(state.floor)),
            *(("not applied", f"{one}. {one.remedy}") for one in state.drift),
        ]
    )


def _floor(floor: Floor) -> str:
    """`0.42, calibrated on 2026-01-31`."""
    origin = f"{floor.origin} on {floor.made}" if floor.made else str(floor.origin)
    return origin if floor.least is None else f"{floor.least:.2f}, {origin}"
