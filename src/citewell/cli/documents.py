"""`citewell documents`"""

from __future__ import annotations

from citewell.cli.options import (
    DEFAULT_INDEX,
    AsGroups,
    AsOf,
    IndexPlace,
    Json,
    SettingsFile,
    load_settings,
    reader,
)
from citewell.cli.reading_as import tell_of_unknown_groups
from citewell.cli.terminal import one_line, out, place, print_indented, print_json
from citewell.cli.where import Where, condition
from citewell.shapes import documents_shape
from citewell.types import Document


def documents(
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    groups: AsGroups = None,
    as_of: AsOf = None,
    where: Where = None,
    as_json: Json = False,
) -> None:
    """List the documents that a reader may see."""
    from rich.text import Text

    from citewell.index import Index

    with Index.open(at, settings=load_settings(settings)) as index:
        tell_of_unknown_groups(index, groups, as_of)
        found = index.documents(principal=reader(groups), as_of=as_of, where=condition(where, index.fields))
    if as_json:
        print_json(documents_shape(found))
        return
    screen = out()
    for document in found:
        screen.print(Text(one_line(document.title) or place(document.source), "bold"))
        facts = (place(document.source), in_force(document), ", ".join(sorted(document.rights.groups)))
        print_indented(" · ".join(one_line(fact) for fact in facts if fact), 2)
        screen.print(Text(f"  {document.id}", "dim"), soft_wrap=True)
    if not found:
        screen.print("No documents.", style="yellow")


def in_force(document: Document) -> str:
    """The days on which a document is valid, in words; empty where that is always."""
    first = f"from {document.valid_from}" if document.valid_from else ""
    last = f"until {document.valid_to}" if document.valid_to else ""
    return " ".join(part for part in (first, last) if part)
