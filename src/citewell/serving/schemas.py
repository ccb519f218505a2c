"""The shapes of docs/json.md as models, for the OpenAPI schema. Nothing is made with them: `citewell.shapes` does that,
and tests hold the two together.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    type: str = Field(description="The name of a class in `citewell.errors`, or of the service's own.")
    message: str
    remedy: str


class ProblemBody(Model):
    """What every error looks like."""

    error: Problem


class Place(Model):
    chunk: str
    document: str
    title: str
    source: str
    section: str
    page: str
    page_number: int | None
    start: int
    end: int


class Passage(Place):
    text: str


class FoundPassage(Passage):
    rank: int
    score: float
    scale: str
    lists: dict[str, int]
    parent: str | None
    alike: list[str]


class FoundPassages(Model):
    version: Literal[1]
    query: str
    hits: list[FoundPassage]


class AnswerSentence(Model):
    text: str
    citations: list[int]


class AnswerCitation(Model):
    n: int
    chunk: str
    document: str
    title: str
    source: str
    section: str
    page: str
    page_number: int | None
    quote: str
    start: int
    end: int
    link: str


class ModelUsage(Model):
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


class AnswerStep(Model):
    step: str
    ms: float
    in_: int = Field(alias="in")
    out: int


class AnswerFloor(Model):
    least: float | None
    origin: str
    made: str | None


class KeptBackPassage(Place):
    query: str
    cosine: float
    evidence: float | None
    why: str


class CitedAnswer(Model):
    version: Literal[1]
    conversation: str | None = Field(None, description="Where it was asked in one.")
    turn: str | None = Field(None, description="For feedback; null where it was not kept.")
    question: str
    answer: str
    abstained: bool
    reason: str
    sentences: list[AnswerSentence]
    citations: list[AnswerCitation]
    hits: list[FoundPassage]
    warnings: list[str]
    usage: ModelUsage
    searched: list[str]
    decisions: list[str]
    trace: list[AnswerStep]
    kept_back: list[KeptBackPassage] = Field(description="Found, and not answered from.")
    floor: AnswerFloor | None


class DocumentFacts(Model):
    document: str
    title: str
    source: str
    document_version: str
    number: int
    indexed_at: str | None
    valid_from: str | None
    valid_to: str | None
    expires: str | None
    fields: dict[str, Any]
    language: str
    trust: Literal["approved", "unreviewed", "untrusted"]
    groups: list[str]
    parent: str | None
    lost: str


class DocumentList(Model):
    version: Literal[1]
    documents: list[DocumentFacts]
    total: int = Field(description="How many there are for this caller, on all pages of the list.")
    offset: int


class PageCounts(Model):
    text: int
    ocr: int
    blank: int
    failed: int
    suspicious: int
    skipped: int


class PageProblem(Model):
    number: int
    label: str
    state: str
    reason: str
    confidence: float | None


class OutlineLine(Model):
    text: str
    depth: int
    page_number: int | None


class WholeDocument(DocumentFacts):
    version: Literal[1]
    kind: Literal["document"]
    characters: int
    chunks: int
    pages: PageCounts
    page_problems: list[PageProblem]
    confidence: float | None
    metadata: dict[str, str]
    links: list[str]
    outline: list[OutlineLine]


class TextElement(Model):
    kind: str
    start: int
    end: int
    headings: list[str]
    page_number: int | None
    box: list[float] | None = Field(description="Left, top, right, bottom in points from the page's top left corner.")
    header_rows: int


class TextPage(PageProblem):
    start: int
    end: int


class DocumentText(Model):
    version: Literal[1]
    document: str
    title: str
    number: int
    characters: int
    start: int
    end: int
    text: str
    elements: list[TextElement]
    pages: list[TextPage]


class RemovedDocument(Model):
    document: str
    source: str
    versions: list[int]
    parts: dict[str, int]


class DeletionReceipt(Model):
    version: Literal[1]
    deleted: str
    purged: bool
    kept_until: str | None
    removed: list[RemovedDocument]
    turns: int | None = Field(None, description="Of conversations, that a purge has removed with it.")


class DocumentVersion(Model):
    document: str
    number: int
    source: str
    title: str
    document_version: str
    content_hash: str
    groups: list[str]
    indexed_at: str
    valid_from: str | None
    valid_to: str | None
    in_force_from: str | None
    in_force_to: str | None
    current: bool
    searchable: bool
    ended_at: str | None
    ending: str | None
    kept_until: str | None


class RetaggedDocument(Model):
    version: Literal[1]
    now: DocumentVersion | None = Field(description="null where it has expired by that.")


class JobProgress(Model):
    done: int
    total: int
    current: str


class UploadedFile(Model):
    name: str
    document: str
    source: str
    state: str
    reason: str
    chunks: int
    pages: PageCounts
    page_problems: list[TextPage]
    warnings: list[str]
    inside: list[dict[str, Any]] = Field(description="What became of the files in it.")


class UploadResult(Model):
    files: list[UploadedFile]


class JobStatus(Model):
    version: Literal[1]
    job: str
    kind: str
    caller: str
    state: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    created: str
    started: str | None
    ended: str | None
    cancelling: bool
    progress: JobProgress | None
    result: UploadResult | dict[str, Any] | None
    error: Problem | None


class JobList(Model):
    version: Literal[1]
    jobs: list[JobStatus]


class BenchSettings(Model):
    name: str
    settings: dict[str, Any] = Field(description="Over those of the service.")


class BenchFigure(Model):
    measure: str
    mean: float
    low: float
    high: float
    questions: int


class BenchVerdict(Model):
    after: str = Field(description="The settings that were compared with the first.")
    verdict: str


class BenchRun(Model):
    job: str
    kind: Literal["evaluation", "comparison"]
    caller: str
    state: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    created: str
    started: str | None
    ended: str | None
    cancelling: bool
    progress: JobProgress | None
    error: Problem | None
    testset: str
    judge: str
    retrieval_only: bool
    settings: list[BenchSettings]
    figures: list[BenchFigure] = Field(description="Of an evaluation: the measures to look at first.")
    verdicts: list[BenchVerdict] = Field(description="Of a comparison.")


class BenchRuns(Model):
    version: Literal[1]
    runs: list[BenchRun]
    total: int
    offset: int


class TestSets(Model):
    __test__ = False  # it is no test

    version: Literal[1]
    testsets: list[str]


class ConversationFacts(Model):
    conversation: str
    caller: str
    title: str
    turn_count: int
    created: str
    changed: str


class ConversationList(Model):
    version: Literal[1]
    conversations: list[ConversationFacts]


class GivenFeedback(Model):
    thumb: Literal["up", "down"] | None
    wrong: list[int]
    comment: str


class StoredTurn(Model):
    turn: str
    question: str
    answer: str
    abstained: bool
    reason: str
    sentences: list[AnswerSentence]
    citations: list[AnswerCitation]
    warnings: list[str]
    documents: list[str]
    groups: list[str]
    as_of: str | None
    asked_at: str
    withheld: bool
    feedback: GivenFeedback | None


class StoredTurnBody(StoredTurn):
    version: Literal[1]


class StoredConversation(ConversationFacts):
    version: Literal[1]
    turns: list[StoredTurn]


class DeletedConversation(Model):
    version: Literal[1]
    deleted: str


class Health(Model):
    status: str
