"""`citewell delete ID`"""

from __future__ import annotations

from shlex import quote

from citewell.cli.options import DEFAULT_INDEX, IdOrFolder, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.receipt import print_receipt
from citewell.cli.terminal import one_line, out, print_json
from citewell.shapes import receipt_shape
from citewell.types import Receipt


def delete(
    wanted: IdOrFolder, at: IndexPlace = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False
) -> None:
    """Remove documents from the index; their files stay."""
    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        receipt = index.delete(wanted)
    if as_json:
        print_json(receipt_shape(receipt))
        return
    print_receipt(receipt)
    out().print(one_line(_way_back(wanted, receipt)))


def _way_back(wanted: str, receipt: Receipt) -> str:
    if receipt.kept_until is None:
        return "Nothing of it is kept: keep_deleted_days is 0 in [storage]."
    if len(receipt.removed) == 1:
        way = f"`citewell rollback {receipt.removed[0].document_id}` brings it back"
    else:
        way = f"`citewell rollback {quote(wanted)}` brings them back, and `citewell history` lists them"
    return f"Until {receipt.kept_until} {way}."
