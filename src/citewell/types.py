"""The data that flows through both pipelines. Frozen, compared by value; identity is an id, never a text."""

from __future__ import annotations

import bisect
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

EVERYONE = "everyone"
"""The group that every principal belongs to."""

SECTION_SEPARATOR = " > "
"""Between the headings of a section, outermost first."""

BETWEEN_CELLS = " | "
"""Between the cells of a table's row, in a document's text."""


BETWEEN_SOURCES = "!/"
"""Between a file's URI and the name of a file in it, as in `file:///a.zip!/b.pdf`. No path's URI has a bare `!`."""

OF_WEB = "web:"
"""How the id of a page of the web begins, which is no document of the index."""


class Trust(StrEnum):
    """How far a document's text may be relied on."""

    APPROVED = "approved"
    UNREVIEWED = "unreviewed"
    UNTRUSTED = "untrusted"


class ElementKind(StrEnum):
    """What a stretch of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    IMAGE = "image"


class PageState(StrEnum):
    """What became of a page when its file was read."""

    TEXT = "text"
    NEEDS_OCR = "ocr"
    BLANK = "blank"
    FAILED = "failed"
    SUSPICIOUS = "suspicious"
    SKIPPED = "skipped"


class EntryKind(StrEnum):
    """Where an entry's embedded text comes from."""

    CHUNK = "chunk"
    ROW = "row"
    SUMMARY = "summary"
    CONTEXT = "context"
    QUESTION = "question"


class Ending(StrEnum):
    """Why a version of a document is no longer the current one."""

    REPLACED = "replaced"
    DELETED = "deleted"
    EXPIRED = "expired"


class Scale(StrEnum):
    """What a score means. Scores of two scales are never compared or added."""

    COSINE = "cosine"
    BM25 = "bm25"
    DOT_PRODUCT = "dot-product"
    RRF = "rrf"
    CONVEX = "convex"
    DISTRIBUTION = "distribution"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `groups` may be given as any iterable of names; everyone is in `everyone`."""

    user: str = ""
    groups: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.groups, str):
            raise TypeError(f"groups must be a set of names, not the string {self.groups!r}")
        object.__setattr__(self, "groups", frozenset(self.groups))

    @property
    def readable(self) -> frozenset[str]:
        """The groups whose documents this principal may read."""
        return self.groups | {EVERYONE}


@dataclass(frozen=True, slots=True)
class Rights:
    """The groups that may read. An empty set means that nobody may."""

    groups: frozenset[str]

    def allows(self, principal: Principal) -> bool:
        return not self.groups.isdisjoint(principal.readable)

    @staticmethod
    def intersection(sources: Iterable[Rights]) -> Rights:
        """Rights of a text derived from `sources`: only who may read all of them. `everyone` restricts nothing.

        Raises:
            ValueError: no source given; a derived text without sources has no rights to inherit.
        """
        remaining = list(sources)
        if not remaining:
            raise ValueError("a derived text needs at least one source to inherit rights from")
        restricted = [rights.groups for rights in remaining if EVERYONE not in rights.groups]
        return Rights(frozenset.intersection(*restricted)) if restricted else Rights(frozenset({EVERYONE}))


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a conversation: what was asked, and the text of the answer ("" where there was none)."""

    question: str
    answer: str = ""


FieldValue = str | float | date | tuple[str, ...]
"""The value of a declared metadata field: a text, a number, a day, or a list of texts."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is said about a document: by rules and side files, which are trusted, or by its own file, which is not.

    None where nothing is said. `valid_to` is the last day in force, `expires` the first day on which it must be gone.
    `fields` are values for the metadata that the settings declare, as a rule gives them.
    """

    groups: frozenset[str] | None = None
    title: str | None = None
    version: str | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    trust: Trust | None = None
    language: str | None = None
    author: str | None = None
    expires: date | None = None
    fields: Mapping[str, object] | None = None


NOTHING = Attributes()


@dataclass(frozen=True, slots=True)
class Page:
    """One page, slide or sheet: its 1-based number, the label printed on it (a sheet's name), its span of the
    document's text, and what became of it. `confidence` is the mean that OCR gave its signs, 0 to 1; None without OCR.
    """

    number: int
    label: str
    start: int
    end: int
    state: PageState = PageState.TEXT
    reason: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """A heading, paragraph, table ... at `document.text[start:end]`. A table's text is one row a line, header first.

    `heading_path` lists the headings above it, outermost first, its own included for a heading. `box` is
    (left, top, right, bottom) in points from the page's top left corner, where the format knows it. Of a table, the
    first `header_rows` lines name the columns (0 where that is unknown). `preamble` is what a piece of it needs above
    it to be understood and does not show: a function's signature and the imports it uses. `cuts` are the offsets from
    `start` at which it is best cut if it must be (a function's statements). `links` are the addresses it points at.
    """

    kind: ElementKind
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    box: tuple[float, float, float, float] | None = None
    header_rows: int = 0
    preamble: str = ""
    cuts: tuple[int, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One version of one source, as text with located elements. `id` is derived from the source URI and is stable.

    `parent_id` is the document that it came in: the mail of an attachment, the archive of a file. `metadata` is what
    the file says about itself (author, created, from, to ...), never to be trusted; `declared` what it asks for itself,
    which can narrow its rights and lower its trust and nothing else. `lost` says what of it could not be read, and is
    "" where nothing was lost.
    """

    id: str
    content_hash: str
    title: str
    source: str
    version: str
    text: str
    elements: tuple[Element, ...]
    rights: Rights
    pages: tuple[Page, ...] = ()
    valid_from: date | None = None
    valid_to: date | None = None
    language: str = ""
    trust: Trust = Trust.UNREVIEWED
    parent_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    declared: Attributes = NOTHING
    lost: str = ""
    number: int = 1
    indexed_at: datetime | None = None
    own_title: str = ""
    expires: date | None = None
    fields: Mapping[str, FieldValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Everyone may read what is of the web: a document that passes for it would have no rights.
        if self.id.startswith(OF_WEB):
            raise ValueError(f"no document's id begins with {OF_WEB!r}: {self.id!r}")

    def pages_of(self, start: int, end: int) -> tuple[Page, ...]:
        """The pages that `text[start:end]` has characters on, in order; () where the format has no pages.

        A span between two pages belongs to the earlier one.
        """
        if not self.pages:
            return ()
        first = max(bisect.bisect_right(self.pages, start, key=lambda page: page.start) - 1, 0)
        touched = [page for page in self.pages[first:] if max(page.start, start) < min(page.end, end)]
        return tuple(touched) or (self.pages[first],)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text` is exactly `document.text[start:end]`. `pages` pairs each page's number with its label.

    `parent_id` is the larger chunk to read in its place: the section around a small chunk, the table of a row.
    `preamble` is what the passage needs above it to be understood and does not hold: the caption and column names of
    the table that it continues, the signature of the function.
    """

    id: str
    document_id: str
    title: str
    source: str
    version: str
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    pages: tuple[tuple[int, str], ...]
    kind: ElementKind
    rights: Rights
    trust: Trust
    parent_id: str | None = None
    preamble: str = ""

    @property
    def section(self) -> str:
        """The headings that it stands under, joined."""
        return SECTION_SEPARATOR.join(self.heading_path)

    @property
    def of_web(self) -> bool:
        """Whether it is of a page of the web, and of no document here."""
        return self.document_id.startswith(OF_WEB)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is embedded and searched. Several entries may point at one chunk; a hit list counts a chunk once."""

    id: str
    chunk_id: str
    document_id: str
    kind: EntryKind
    text: str
    rights: Rights
    derived_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found. `lists` gives its 1-based rank in each list that it came from; `cosine` is the question's.

    `parent` is the larger chunk to read in its place, where it has one. `alike` are passages that ranked lower and say
    the same, where those are grouped.
    """

    chunk: Chunk
    entry_id: str
    score: float
    scale: Scale
    rank: int
    lists: Mapping[str, int]
    cosine: float
    parent: Chunk | None = None
    alike: tuple[Chunk, ...] = ()

    @property
    def passage(self) -> Chunk:
        """What is read to answer: the parent, or the chunk itself."""
        return self.parent or self.chunk


@dataclass(frozen=True, slots=True)
class KeptBack:
    """A passage found that is not answered from, and why. `evidence` (docs/floor.md) is for `query`, which found it;
    -inf where that names a code which no passage found has."""

    hit: Hit
    query: str
    evidence: float
    why: str


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a statement comes from: `quote` is `document.text[start:end]`; `link` opens the page it stands on."""

    n: int
    chunk_id: str
    document_id: str
    title: str
    source: str
    heading_path: tuple[str, ...]
    page: str
    page_number: int | None
    quote: str
    start: int
    end: int
    link: str

    @property
    def section(self) -> str:
        """The headings that it stands under, joined."""
        return SECTION_SEPARATOR.join(self.heading_path)

    @property
    def of_web(self) -> bool:
        """Whether it is of a page of the web, and of no document here."""
        return self.document_id.startswith(OF_WEB)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer with the numbers of the citations that support it."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """How often the language model was called, what it was given and gave, in its tokens; the cost where its price is
    known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Both together; of unknown cost where one is."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost_usd or 0) + (other.cost_usd or 0) if known else None,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a pipeline: how long it took, and how many things went in and came out."""

    name: str
    ms: float
    count_in: int
    count_out: int


@dataclass(slots=True)
class Running:
    """A step under way; set `out` to the number of things that came out."""

    out: int = 0


class Listener(Protocol):
    """Hears of an answer while it is made, on the thread that makes it. What it raises ends the answer."""

    def step(self, step: Step) -> None:
        """A step is done."""
        ...

    def draft(self, piece: str) -> None:
        """The next piece of what the language model writes: unchecked, the answer may say otherwise."""
        ...


@dataclass(slots=True)
class Trace:
    """The steps of one call, in order. Holds names and numbers only, never text. `listener` hears of each."""

    listener: Listener | None = None
    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, count_in: int) -> Iterator[Running]:
        """Time a step and add its line, also when it fails."""
        running = Running()
        begin = time.perf_counter()
        try:
            yield running
        finally:
            elapsed = (time.perf_counter() - begin) * 1000
            self.add(Step(name, round(elapsed, 3), count_in, running.out))

    def add(self, *steps: Step) -> None:
        """Lines of steps that were timed elsewhere."""
        for step in steps:
            self.steps.append(step)
            if self.listener is not None:
                self.listener.step(step)


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, or an abstention with its reason. `searched` are the texts that were searched for, the question
    first; () where nothing was. `decisions` are those of a model about passages and drafts, a line each. `kept_back`
    was found and not answered from, the nearest first, under `floor`; that is None where nothing was searched."""

    question: str
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    abstained: bool
    reason: str
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...]
    usage: Usage
    trace: tuple[Step, ...]
    searched: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    kept_back: tuple[KeptBack, ...] = ()
    floor: Floor | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a document in its history. Holds no text.

    `valid_from` and `valid_to` are what was said of it, `in_force_from` and `in_force_to` (both included) the days on
    which it is found: those said, as far as no other version took them. It is `searchable` where there are such days,
    and otherwise only kept to be brought back. `ended_at` and `ending` are None while it is `current`.
    """

    document_id: str
    number: int
    source: str
    title: str
    label: str
    content_hash: str
    rights: Rights
    indexed_at: datetime
    valid_from: date | None
    valid_to: date | None
    in_force_from: date | None
    in_force_to: date | None
    current: bool
    searchable: bool
    ended_at: datetime | None
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class Removed:
    """What one document lost: which versions, and how many parts in each place (`dense`, `keyword`, `chunks` ...)."""

    document_id: str
    source: str
    versions: tuple[int, ...]
    parts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a deletion or a purge removed, document by document.

    `kept_until` is the day until which it can be brought back by `rollback`; None after a purge, when nothing of it is
    in any file of the index.
    """

    removed: tuple[Removed, ...]
    kept_until: date | None
    purged: bool


class FileState(StrEnum):
    """What indexing did with a file."""

    ADDED = "added"
    UPDATED = "updated"
    RENAMED = "renamed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    FAILED = "failed"
    PARTLY = "partly"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file's line in the report; `pages` counts pages by what became of them, `reason` says what was lost and why.

    Skipped is what holds nothing that could be indexed (an empty file, a program, a link); partly, what has pages or
    attachments that could not be read.
    """

    source: str
    state: FileState
    reason: str = ""
    chunks: int = 0
    pages: Mapping[PageState, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run of indexing did; `embedded` counts the texts that went through the embedder.

    `ignored` counts the files and folders passed over as hidden or by `loading.ignore`. `warnings` are about the run as
    a whole; those about a file are in its report. `usage` is that of the language model, for enrichment.
    """

    files: tuple[FileReport, ...]
    embedded: int
    seconds: float
    warnings: tuple[str, ...] = ()
    ignored: int = 0
    usage: Usage = Usage()

    @property
    def failed(self) -> tuple[FileReport, ...]:
        return tuple(file for file in self.files if file.state is FileState.FAILED)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run of indexing is: files finished of all, texts embedded so far, and the file now at work."""

    files_done: int
    files_total: int
    embedded: int
    source: str


class FloorOrigin(StrEnum):
    """Where the floor comes from, or why there is none."""

    CALIBRATED = "calibrated"
    BUILT_IN = "built-in"
    SETTINGS = "settings"
    OFF = "off"
    NOT_CALIBRATED = "not calibrated"
    NOTHING_SEPARATES = "nothing separates"


@dataclass(frozen=True, slots=True)
class Floor:
    """The least evidence that a passage must have; None where none is asked for. docs/floor.md says what it is.

    `made` is the day of the calibration, where there is one.
    """

    origin: FloorOrigin
    least: float | None = None
    made: date | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    """A setting that is `now` another than it `was` when so many documents of an index were made: both as they are
    written. `remedy` makes the index as the settings say."""

    setting: str
    was: str
    now: str
    documents: int
    remedy: str

    def __str__(self) -> str:
        return f"{self.setting} is {self.now}; documents made with {self.was}: {self.documents:,}"


@dataclass(frozen=True, slots=True)
class Status:
    """An index in numbers, for its owner. `sparse` is the identity of the sparse encoder, "" where there is none.
    `drift` are the settings that are other now than those that it was made by."""

    path: str
    documents: int
    chunks: int
    entries: int
    embedder: str
    analyser: str
    generation: int
    created: str
    bytes_on_disk: int
    floor: Floor
    past_versions: int = 0
    sparse: str = ""
    drift: tuple[Drift, ...] = ()
