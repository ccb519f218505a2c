"""`citewell delete ID`"""

from __future__ import annotations

from citewell.cli.options import DEFAULT_INDEX, IdOrSource, IndexFolder, Json, SettingsFile, load_settings
from citewell.cli.terminal import out, place, print_json
from citewell.shapes import receipt_shape


def delete(
    wanted: IdOrSource, folder: IndexFolder = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False
) -> None:
    """Remove a document and everything made from it; its file stays."""
    from citewell.index import Index

    with Index.open(folder, settings=load_settings(settings)) as index:
        receipt = index.delete(wanted)
    if as_json:
        print_json(receipt_shape(receipt))
        return
    for removed in receipt.removed:
        out().print(f"Deleted {place(removed.source)}.")
