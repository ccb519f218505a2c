"""A language model that answers as a test says, to see what is made of replies that a real one gives only sometimes."""

from __future__ import annotations

from citewell.models.llm import Completion, Prompt


class ScriptedLLM:
    """Gives `text` to every prompt, and keeps the prompts."""

    def __init__(self, text: str) -> None:
        self.prompts: list[Prompt] = []
        self._text = text

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return Completion(self._text, prompt_tokens=40, completion_tokens=9, finish_reason="stop")
