"""What a stored document was made by, beside its content: a change of it is seen where the recipe is another."""

from __future__ import annotations

import hashlib
import json
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
LOADING = "loading."
PLUGINS = "loading.plugins"
NOT_MADE_BY = ("enrichment.parallel", "loading.ignore")
"""Keys of those tables that make no document another one."""
UNWRITTEN = "?"
"""After the recipe of a document of which a language model has not written all: it is asked again in the next run."""


@dataclass(frozen=True, slots=True)
class Recipes:
    """A recipe is `reading/sayings/settings`: what the text depends on, what is said about it and made of it, and which
    of the settings that hold from one indexing to the next it was made by, to be told where they have changed."""

    settings: Settings
    credentials: Credentials = NO_CREDENTIALS

    def of(self, about: Attributes, lost: str) -> str:
        return BETWEEN.join((self.reading(lost), self.sayings(about), _written_down(self.applied(about, lost))))

    def read_as(self, recipe: str, about: Attributes) -> str:
        """The recipe of a text that was read as before, with what is said now."""
        read = {key: value for key, value in (applied_in(recipe) or {}).items() if key.startswith(LOADING)}
        applied = self.applied(about, "")
        return BETWEEN.join((recipe.partition(BETWEEN)[0], self.sayings(about), _written_down(applied | read)))

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

    def applied(self, about: Attributes, lost: str) -> dict[str, object]:
        """By their names the settings that a document is made by. Of tables that every document is made by, what has
        its default is left out."""
        settings, tables = self.settings, ["chunking", "enrichment", "metadata"]
        # What was lost may be found with other limits; what was read is not read again for them.
        tables += ["loading"] if lost else []
        made: dict[str, object] = {
            f"{name}.{key}": value
            for name in tables
            for key, value in getattr(settings, name).model_dump(mode="json", exclude_defaults=True).items()
            if f"{name}.{key}" not in NOT_MADE_BY
        }
        if settings.loading.plugins:
            made[PLUGINS] = list(settings.loading.plugins)
        if about.groups is None:
            made["security.default_groups"] = list(settings.security.default_groups)
        if settings.enrichment.of_a_model:
            made |= {"models.llm": settings.models.llm, "security.untrusted": settings.security.untrusted}
        return made

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


def applied_in(recipe: str) -> dict[str, object] | None:
    """What `Recipes.applied` said when a document was indexed; None where a version that did not note it has."""
    noted = made_by(recipe)
    return dict(json.loads(noted)) if noted.startswith("{") else None


def made_by(recipe: str) -> str:
    """Its last part, which is as good as the whole for `applied_in`."""
    return finished(recipe).rpartition(BETWEEN)[2]


def _written_down(applied: Mapping[str, object]) -> str:
    """As JSON, in which the signs that part a recipe do not occur: names in it may hold any."""
    text = json.dumps(applied, sort_keys=True, separators=(",", ":"))
    return text.replace(BETWEEN, f"\\u{ord(BETWEEN):04x}").replace(UNWRITTEN, f"\\u{ord(UNWRITTEN):04x}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
