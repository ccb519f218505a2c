"""A language model that replies as a test wants, or fails."""

from __future__ import annotations

from collections.abc import Callable

from citewell.models.llm import Completion, Prompt


class ScriptedLLM:
    """Replies by a rule, which may raise; keeps the prompts."""

    def __init__(self, rule: Callable[[Prompt], Completion | str]) -> None:
        self._rule = rule
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        reply = self._rule(prompt)
        return reply if isinstance(reply, Completion) else Completion(reply, finish_reason="stop")
