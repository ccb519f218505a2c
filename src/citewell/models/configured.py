"""The models that the settings name."""

from __future__ import annotations

from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.settings import Models


def embedder(settings: Models) -> Embedder:
    """The embedder; its files are loaded at its first use."""
    from citewell.models.minilm import MiniLM

    return MiniLM(settings.threads)


def llm(settings: Models) -> LLM | None:
    """The language model, or None for "none": the answer then quotes its sources.

    Raises:
        UsageError: the extra that talks to endpoints is not installed.
    """
    if settings.llm == "none":
        return None
    from citewell.models.openai_compatible import OpenAICompatible

    return OpenAICompatible(settings.llm.removeprefix("openai:"), settings.llm_url, settings.llm_timeout_s)
