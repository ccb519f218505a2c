"""A scripted language model that knows what it is asked: a draft, or one of the decisions about it."""

from __future__ import annotations

import json
from collections.abc import Callable

from citewell.errors import PromptRefused
from citewell.models.llm import Completion, Prompt

FORMS = ("Relevant", "Supported", "Useful", "More")

Reply = str | Exception | Callable[[Prompt], str]


class ScriptedModel:
    """Replies in turn to each kind of prompt; the last reply of a kind is said again. `asked` has the kinds in order.

    By default everything is relevant, supported and useful, and nothing more is searched for.
    """

    def __init__(self, draft: list[Reply], **replies: list[Reply]) -> None:
        self.asked: list[str] = []
        self.prompts: list[Prompt] = []
        self._replies: dict[str, list[Reply]] = {
            "Relevant": ['{"relevant": true}'],
            "Supported": [all_fully],
            "Useful": ['{"useful": 5}'],
            "More": ['{"search": false}'],
            "draft": draft,
            **replies,
        }

    def complete(self, prompt: Prompt) -> Completion:
        # Not by the schema beside the rules: what is refused is asked once more without it.
        kind = next((kind for kind in FORMS if f'"title": "{kind}", "type": "object"' in prompt.system), "draft")
        self.asked.append(kind)
        self.prompts.append(prompt)
        left = self._replies[kind]
        reply = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply if isinstance(reply, str) else reply(prompt), 10, 2, "stop")

    def prompts_of(self, kind: str) -> list[Prompt]:
        return [prompt for asked, prompt in zip(self.asked, self.prompts, strict=True) if asked == kind]


def all_fully(prompt: Prompt) -> str:
    return json.dumps({"verdicts": ["fully"] * prompt.user.count("<sentence-")})


def refused() -> PromptRefused:
    return PromptRefused("The endpoint refuses this prompt.", remedy="Ask something else.")
