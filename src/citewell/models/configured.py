"""The models that the settings name."""

from __future__ import annotations

from pathlib import Path

from citewell.errors import SettingsError
from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.models.reranker import Reranker
from citewell.settings import Models


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


def llm(settings: Models) -> LLM | None:
    """The language model, or None for "none": the answer then quotes its sources.

    Raises:
        UsageError: the extra that talks to endpoints is not installed.
    """
    if settings.llm == "none":
        return None
    from citewell.models.openai_compatible import OpenAICompatible

    return OpenAICompatible(settings.llm.removeprefix("openai:"), settings.llm_url, settings.llm_timeout_s)
