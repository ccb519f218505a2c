"""A language model whose calls are counted: what was asked of it for one question, by whatever step."""

from __future__ import annotations

import threading

from citewell.models.llm import LLM, Completion, Prompt
from citewell.types import Usage


class CountedLLM:
    """An `LLM` that passes on to another. Safe to share between threads."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """Of all calls so far. What a call costs, only its endpoint knows."""
        return self._usage

    def complete(self, prompt: Prompt) -> Completion:
        """As `LLM.complete`."""
        completion = self._llm.complete(prompt)
        with self._lock:
            self._usage += Usage(completion.prompt_tokens, completion.completion_tokens, cost_usd=None)
        return completion
