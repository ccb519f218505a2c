"""The models that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import SettingsError
from citewell.models.counted import Price
from citewell.models.embedder import Embedder
from citewell.models.encoding import Encoders
from citewell.models.llm import LLM, StreamingLLM
from citewell.models.reranker import Reranker
from citewell.models.sparse import SparseEncoder
from citewell.settings import Models

if TYPE_CHECKING:
    from citewell.models.chat import Provider


def embedder(settings: Models) -> Embedder:
    """The embedder; its files are loaded, or its endpoint is asked, at its first use.

    Raises:
        SettingsError: `embedder_url` is no URL, or prefixes are given to the built-in embedder.
    """
    whole = _whole(settings)
    if not settings.dimensions:
        return whole
    from citewell.models.shortened import Shortened

    return Shortened(whole, settings.dimensions)


def _whole(settings: Models) -> Embedder:
    kind, _, name = settings.embedder.partition(":")
    if kind == "onnx":
        from citewell.models.onnx_folder import OnnxFolder

        return OnnxFolder(
            Path(name),
            pooling=settings.pooling,
            max_tokens=settings.embedder_max_tokens,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
            threads=settings.threads,
        )
    if kind == "openai":
        from citewell.models.remote import RemoteEmbedder

        return RemoteEmbedder(
            name,
            settings.embedder_url,
            timeout_s=settings.embedder_timeout_s,
            max_tokens=settings.embedder_max_tokens,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
        )
    if settings.query_prefix or settings.passage_prefix:
        raise SettingsError(
            f"{settings.embedder} takes no prefixes.",
            remedy="Remove models.query_prefix and models.passage_prefix, or name the embedder that they are for.",
        )
    from citewell.models.minilm import MiniLM

    return MiniLM(settings.threads)


def sparse(settings: Models) -> SparseEncoder | None:
    """The sparse encoder, or None for "none"; its files are loaded at its first use."""
    if settings.sparse == "none":
        return None
    from citewell.models.splade import Splade

    return Splade(
        Path(settings.sparse.removeprefix("onnx:")),
        pooling=settings.sparse_pooling,
        max_tokens=settings.sparse_max_tokens,
        threads=settings.threads,
    )


def encoders(settings: Models) -> Encoders:
    """What reads passages and queries.

    Raises:
        SettingsError: as `embedder`.
    """
    return Encoders(embedder(settings), sparse(settings))


def reranker(settings: Models) -> Reranker | None:
    """What reads the first candidates again; its files are loaded, or its endpoint is asked, at its first use.

    None for "maxsim", which compares stored vectors, and for "llm": see `listwise`.

    Raises:
        SettingsError: `reranker_url` is no URL.
    """
    kind, _, name = settings.reranker.partition(":")
    if kind == "onnx":
        from citewell.models.cross_encoder import CrossEncoder

        return CrossEncoder(Path(name), settings.threads)
    if kind == "hosted":
        from citewell.models.hosted_reranker import HostedReranker

        return HostedReranker(name, settings.reranker_url, settings.reranker_timeout_s)
    return None


def listwise(settings: Models, llm: LLM | None) -> Reranker | None:
    """A re-ranker of this language model, where the settings name it as one."""
    if settings.reranker != "llm" or llm is None:
        return None
    from citewell.models.listwise import Listwise

    return Listwise(llm)


def llm(settings: Models) -> StreamingLLM | None:
    """The language model, or None for "none": the answer then quotes its sources.

    Raises:
        UsageError: the extra that talks to endpoints is not installed, or `llm_url` is no URL.
    """
    if settings.llm == "none":
        return None
    from citewell.models.chat import Chat
    from citewell.models.schemas import SchemaOptional

    kind, _, name = settings.llm.partition(":")
    return SchemaOptional(Chat(_provider(kind, name, settings.llm_url), settings.llm_timeout_s))


def _provider(kind: str, name: str, url: str) -> Provider:
    if kind == "anthropic":
        from citewell.models.anthropic import Anthropic

        return Anthropic(name, url)
    if kind == "ollama":
        from citewell.models.ollama import Ollama

        return Ollama(name, url)
    from citewell.models.openai_compatible import OpenAICompatible

    return OpenAICompatible(name, url)


def llm_price(settings: Models) -> Price | None:
    """What the language model's tokens cost, or None where the settings do not say."""
    if settings.llm_price_in is None or settings.llm_price_out is None:
        return None
    cached = settings.llm_price_in if settings.llm_price_cached is None else settings.llm_price_cached
    return Price(settings.llm_price_in, settings.llm_price_out, cached)
