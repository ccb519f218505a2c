"""What a stored document was made by, beside its content: a change of it is seen where the recipe is another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from citewell.chunking import CHUNKER_VERSION
from citewell.credentials import NO_CREDENTIALS, Credentials
from citewell.enrichment import ENRICHER_VERSION
from citewell.loading import ocr_engine
from citewell.loading.parsed import LOADER_VERSION
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.security.admission import ADMISSION_VERSION
from citewell.settings import Settings
from citewell.stores.store import LedgerLine
from citewell.types import Attributes

BETWEEN = "/"
UNWRITTEN = "?"
"""After the recipe of a document of which a language model has not written all: it is asked again in the next run."""


@dataclass(frozen=True, slots=True)
class Recipes:
    """A recipe is `reading/sayings`: what the text depends on, and what is said about it and made of it."""

    settings: Settings
    credentials: Credentials = NO_CREDENTIALS

    def of(self, about: Attributes, lost: str) -> str:
        return f"{self.reading(lost)}{BETWEEN}{self.sayings(about)}"

    def read_as(self, recipe: str, about: Attributes) -> str:
        """The recipe of a text that was read as before, with what is said now."""
        return f"{recipe.partition(BETWEEN)[0]}{BETWEEN}{self.sayings(about)}"

    def still_reads(self, line: LedgerLine) -> bool:
        """Whether its text would be read as it was."""
        return line.recipe.startswith(self.reading(line.lost))

    def reading(self, lost: str) -> str:
        """What a document's text depends on. What was lost may be found with another engine, password or limit."""
        loading = self.settings.loading
        means = (ocr_engine(), self.credentials.edition, loading) if lost else ()
        return _digest(repr((LOADER_VERSION, loading.plugins, *means)))[:16]

    def sayings(self, about: Attributes) -> str:
        """What is said about it, how it is cut and analysed, and how its trust was judged."""
        groups = sorted(about.groups if about.groups is not None else self.settings.security.default_groups)
        versions = (CHUNKER_VERSION, ANALYSER_VERSION, ADMISSION_VERSION)
        made_by = (*versions, self.settings.chunking, self.settings.metadata)
        return _digest(repr((*self._written(), made_by, groups, replace(about, groups=None))))

    def _written(self) -> tuple[object, ...]:
        """What is written of it by a language model; nothing where none is to, so that such recipes stay."""
        if not self.settings.enrichment.of_a_model:
            return ()
        asked = self.settings.enrichment.model_copy(update={"parallel": 1})
        # How untrusted documents are shown: replies to prompts of another kind are not searched any more.
        return (ENRICHER_VERSION, self.settings.models.llm, asked, self.settings.security.untrusted)


def unfinished(recipe: str, replies: Mapping[str, str]) -> str:
    """With what was written so far: when more is, it is another recipe, and the document has changed."""
    return f"{recipe}{UNWRITTEN}{_digest(repr(sorted(replies.items())))[:8]}"


def finished(recipe: str) -> str:
    return recipe.partition(UNWRITTEN)[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
