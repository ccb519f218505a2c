"""Settings that are other now than when what the index holds was made: until documents are indexed again, or the index
is migrated, it is as it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from citewell.models.encoding import Encoders
from citewell.models.token_vectors import codec_for
from citewell.recipes import LOADING, NOT_MADE_BY, PLUGINS, applied_in, made_by
from citewell.settings import Chunking, Enrichment, Loading, Metadata, Settings
from citewell.stores.store import LedgerLine, MadeWith
from citewell.types import Drift

INDEX_AGAIN = "Run `citewell index` on the same paths again."
MIGRATE = "Run `citewell migrate`, or set it as it was."


def of_documents(lines: Iterable[LedgerLine], settings: Settings) -> tuple[Drift, ...]:
    """The settings that documents were made by and that have another value now, with how many documents each.

    A document that was indexed by a version which noted none is not among them: see `unnoted`.
    """
    found = Counter[tuple[str, str, str]]()
    # Most documents of an index were made by the same settings.
    for (recipe, lost), documents in Counter((made_by(line.recipe), bool(line.lost)) for line in lines).items():
        noted = applied_in(recipe)
        if noted is not None:
            found.update(dict.fromkeys(_differing(noted, settings, lost=lost), documents))
    return tuple(Drift(*key, documents, INDEX_AGAIN) for key, documents in sorted(found.items()))


def of_index(made_with: MadeWith, settings: Settings, encoders: Encoders, documents: int) -> tuple[Drift, ...]:
    """The same of what a whole index is made with. What runs of no model tells: `doctor` compares the vectors too."""
    pairs = {
        "models.embedder": (made_with.embedder.name, settings.models.embedder),
        "models.sparse": (made_with.sparse or "none", encoders.sparse_identity or "none"),
    }
    # An embedder that gives none keeps none, whatever the settings say.
    if settings.models.embedder == made_with.embedder.name:
        wanted = codec_for(encoders.embedder, keep=settings.storage.token_vectors)
        pairs["storage.token_vectors"] = (json.dumps(bool(made_with.token_codec)), json.dumps(bool(wanted)))
    return tuple(Drift(key, was, now, documents, MIGRATE) for key, (was, now) in pairs.items() if was != now)


def unnoted(lines: Iterable[LedgerLine]) -> int:
    """How many documents were indexed by a version that did not note its settings."""
    return sum(applied_in(line.recipe) is None for line in lines)


def _differing(noted: Mapping[str, object], settings: Settings, *, lost: bool) -> Iterator[tuple[str, str, str]]:
    """Names, and the values then and now as they are written."""
    for key, now in _values(settings).items():
        is_limit = key.startswith(LOADING) and key != PLUGINS
        was = noted.get(key, _DEFAULTS.get(key, now))  # of what only some documents are made by, there is no default
        if was != now and (lost or not is_limit):
            yield key, json.dumps(was, ensure_ascii=False), json.dumps(now, ensure_ascii=False)


def _values(settings: Settings) -> dict[str, object]:
    values = _of_tables(settings.loading, settings.chunking, settings.enrichment, settings.metadata)
    values["security.default_groups"] = list(settings.security.default_groups)
    if settings.enrichment.of_a_model:
        values |= {"models.llm": settings.models.llm, "security.untrusted": settings.security.untrusted}
    return values


def _of_tables(loading: Loading, chunking: Chunking, enrichment: Enrichment, metadata: Metadata) -> dict[str, object]:
    tables = {"loading": loading, "chunking": chunking, "enrichment": enrichment, "metadata": metadata}
    return {
        f"{name}.{key}": value
        for name, table in tables.items()
        for key, value in table.model_dump(mode="json").items()
        if f"{name}.{key}" not in NOT_MADE_BY
    }


_DEFAULTS = _of_tables(Loading(), Chunking(), Enrichment(), Metadata())
