"""A document's entries with what a language model writes of it: contexts, questions, a summary.

What is written inherits the document's rights, and says of which passages it is derived. Where nothing of use was
written, the document is searched by its own words, as without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from citewell.chunking import Chunked
from citewell.enrichment.asking import Asking, Keep, Task
from citewell.enrichment.contexts import contexts
from citewell.enrichment.fitting import Room
from citewell.enrichment.questions import questions
from citewell.enrichment.refusals import Refusals
from citewell.enrichment.summaries import summaries
from citewell.enrichment.surroundings import Surroundings
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.settings import Enrichment, Untrusted
from citewell.types import Document, Entry, EntryKind, Trust


@dataclass(frozen=True, slots=True)
class Enriched:
    """All entries of a document: those of chunking, some of them replaced, and others after them.

    `replies` are all that belong to it, by their keys, word for word, of use or not. `unwritten` names what has none
    of use, as a user is told ("the context of ...").
    """

    entries: tuple[Entry, ...]
    replies: Mapping[str, str]
    unwritten: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Enricher:
    """A language model, by the name of `model`, and what it is to write, for this embedder: one for each run.

    It is shown untrusted documents as `untrusted` says.
    """

    llm: LLM
    model: str
    settings: Enrichment
    embedder: Embedder
    untrusted: Untrusted = "cut"
    _refusals: Refusals = field(default_factory=Refusals, init=False)

    def enrich(self, document: Document, chunked: Chunked, known: Mapping[str, str], keep: Keep) -> Enriched:
        """Ask for what `known` has no reply of use to, and make entries of all. The result depends on the replies
        alone, not on the order in which they come.

        Raises:
            ServiceError: the model's endpoint failed, or refused the first prompts of this run, all of them. What came
                before has been given to `keep`.
        """
        asked = list(tasks(document, chunked, self.settings, self.embedder, self.untrusted))
        asking = Asking(self.llm, self.model, self.settings.parallel, self._refusals)
        written = asking.all(asked, known, keep)
        made = [entry for each in written for entry in each.entries or ()]
        placed = {entry.chunk_id: entry for entry in made if entry.kind is EntryKind.CONTEXT}
        own = (placed.get(entry.chunk_id, entry) if _is_plain(entry) else entry for entry in chunked.entries)
        return Enriched(
            entries=(*own, *(entry for entry in made if entry.kind is not EntryKind.CONTEXT)),
            replies={each.key: each.reply for each in written},
            unwritten=tuple(each.task.name for each in written if each.entries is None),
        )


def tasks(
    document: Document, chunked: Chunked, settings: Enrichment, embedder: Embedder, untrusted: Untrusted = "cut"
) -> Iterator[Task]:
    """All that the settings want written of a document. Questions are, of approved documents only: they are searched
    as what people ask, and others could plant them."""
    around, room = Surroundings.of(document, chunked, untrusted), Room(embedder)
    if settings.context:
        yield from contexts(around, {entry.chunk_id: entry for entry in chunked.entries if _is_plain(entry)}, room)
    if settings.questions and document.trust is Trust.APPROVED:
        yield from questions(around, settings.questions, room)
    if settings.summaries:
        yield from summaries(around, room)


def _is_plain(entry: Entry) -> bool:
    return entry.kind is EntryKind.CHUNK
