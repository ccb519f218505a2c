"""These shapes as models, for the OpenAPI schema. As in `serving.schemas`, nothing is made with them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from citewell.serving.schemas import AnswerCitation, Model


class CompatibleError(Model):
    message: str
    type: str
    param: None
    code: str = Field(description="The type that other routes would tell.")


class CompatibleProblem(Model):
    """What every error of these routes looks like."""

    error: CompatibleError


class UrlCitation(Model):
    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(Model):
    type: Literal["url_citation"]
    url_citation: UrlCitation
    citewell: AnswerCitation


class Told(Model):
    abstained: bool
    reason: str
    warnings: list[str]
    searched: list[str]


class AssistantMessage(Model):
    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]
    citewell: Told


class Choice(Model):
    index: int
    message: AssistantMessage
    logprobs: None
    finish_reason: Literal["stop"]


class CompletionUsage(Model):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(Model):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: CompletionUsage


class OneModel(Model):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(Model):
    object: Literal["list"]
    data: list[OneModel]


class Embedding(Model):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str = Field(description="Numbers, or little-endian float32 in base64.")


class EmbeddingUsage(Model):
    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Model):
    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: EmbeddingUsage


class RankedText(Model):
    text: str


class Ranked(Model):
    index: int = Field(description="Of the document in the request.")
    relevance_score: float = Field(description="Higher is better; of one request only are they comparable.")
    document: RankedText | None = None


class RankingUsage(Model):
    total_tokens: int


class Ranking(Model):
    id: str
    model: str
    results: list[Ranked]
    usage: RankingUsage
