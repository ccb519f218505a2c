"""All that is stored cut into words anew, after the analyser has changed: questions are cut by the present one."""

from __future__ import annotations

from dataclasses import replace

from citewell.history.parts import tokens_of
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.stores.store import IndexedDocument, Store, VersionKey

FETCHED = 16
"""Versions read at once; each may be large."""


def analyse_again(store: Store) -> None:
    """Make the tokens of every version anew, where another version of the analyser made them.

    From the texts in the store: no file is read and nothing is embedded. A run that is cut short leaves it to the next,
    which begins anew. To be called inside `store.writing()`.
    """
    if store.made_with.analyser == ANALYSER_VERSION:
        return
    keys = [VersionKey(version.document_id, version.number) for version in store.versions()]
    for start in range(0, len(keys), FETCHED):
        store.commit([_analysed(indexed) for indexed in store.fetch(keys[start : start + FETCHED])])
    store.analysed_by(ANALYSER_VERSION)


def _analysed(indexed: IndexedDocument) -> IndexedDocument:
    entries = (replace(each, tokens=tokens_of(each.entry.text, indexed.document)) for each in indexed.entries)
    return replace(indexed, entries=tuple(entries))
