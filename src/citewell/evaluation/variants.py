"""A settings file as an index to ask: the one there is, where they would make the same, else one built beside it.

What is built beside is made of the texts in the index, not of the files again, so it holds just the same documents and
past versions with the same rights. It is kept, and the next time only brought up to date.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import UsageError
from citewell.evaluation.shown import shown
from citewell.index import Index
from citewell.journal import OnProgress
from citewell.models.llm import LLM
from citewell.settings import Settings
from citewell.stores import files
from citewell.types import Document


@dataclass(frozen=True, slots=True)
class Workbench:
    """The index at `place`, made with `settings`, and the folder for what is built beside it.

    The folder holds texts of documents of all rights: it is made for its owner's eyes only.
    """

    place: str
    settings: Settings
    folder: Path

    def opened(self, wanted: Settings, *, llm: LLM | None = None, on_progress: OnProgress | None = None) -> Index:
        """An index that `wanted` makes and asks; to be closed. `llm` takes the place of the settings' language model.

        Raises:
            UsageError: the settings read files in another way, which stored texts cannot show.
            CitewellError: as `Index.open` and `Index.add_documents`.
        """
        if _made_by(wanted) == _made_by(self.settings):
            return Index.open(self.place, settings=wanted, llm=llm)
        if wanted.loading != self.settings.loading:
            raise UsageError(
                "The settings differ in [loading], and the texts in the index are read already.",
                remedy="Make an index with each settings file, and evaluate them one by one.",
            )
        return self._built(wanted, llm, on_progress)

    def _built(self, wanted: Settings, llm: LLM | None, on_progress: OnProgress | None) -> Index:
        files.make_folder(self.folder)
        self.folder.chmod(0o700)
        path = self.folder / hashlib.sha256(_made_by(wanted).encode()).hexdigest()[:16]
        if not path.exists():
            Index.create(path, settings=wanted).close()
        index = Index.open(path, settings=wanted, llm=llm)
        try:
            with closing(Index.open(self.place, settings=self.settings)) as base:
                _follow(index, base, on_progress)
        except BaseException:
            index.close()
            raise
        return index


def _follow(index: Index, base: Index, on_progress: OnProgress | None) -> None:
    """Make it hold the versions that the base finds, each from the day on that it was found there."""
    wanted, held = _versions(base), _versions(index)
    for document_id, versions in held.items():
        if _contents(wanted.get(document_id, ())) != _contents(versions):
            index.purge(document_id)
    new = [versions for key, versions in wanted.items() if _contents(held.get(key, ())) != _contents(versions)]
    # Past versions first, each before what replaced it.
    for place in range(max((len(versions) - 1 for versions in new), default=0)):
        index.add_documents([versions[place] for versions in new if place < len(versions) - 1], on_progress=on_progress)
    index.add_documents([versions[-1] for versions in wanted.values()], on_progress=on_progress)


def _versions(index: Index) -> dict[str, list[Document]]:
    """Of each document what is found of it, the oldest first and the current one last."""
    found: dict[str, list[Document]] = {}
    current = index.stored()
    for document in (*index.replaced(), *current):
        found.setdefault(document.id, []).append(document)
    return {document.id: found[document.id] for document in current}


def _contents(versions: Sequence[Document]) -> list[str]:
    return [version.content_hash for version in versions]


def differing(one: Settings, other: Settings) -> Sequence[str]:
    """The keys that differ, as `table.key: this, that`, for a report."""
    mine, theirs = one.model_dump(), other.model_dump()
    return [
        f"{table}.{key}: {shown(str(values[key]))}, {shown(str(theirs[table][key]))}"
        for table, values in mine.items()
        if isinstance(values, dict)
        for key in values
        if values[key] != theirs[table][key]
    ]


def _made_by(settings: Settings) -> str:
    """All that an index depends on; what is left out only says how it is asked, or how long things are kept."""
    models = settings.models.model_dump(exclude={"embedder_timeout_s", "threads"})
    embedding = {key: value for key, value in models.items() if not key.startswith(("llm", "reranker"))}
    storage = settings.storage.model_dump(include={"quantise", "vectors", "vectors_url", "token_vectors"})
    # Validated once more: a default of 200 and the 200.0 that a file gives are one.
    tables = [type(table).model_validate(table.model_dump()) for table in (settings.loading, settings.chunking)]
    enrichment = settings.enrichment
    written = (enrichment.model_dump(exclude={"parallel"}), settings.models.llm) if enrichment.of_a_model else ()
    return repr([*tables, settings.metadata, embedding, storage, settings.security.default_groups, *written])
