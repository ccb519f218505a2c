"""A language model that writes of each passage what a test says, in whatever time, and remembers what it was asked."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator

from citewell.models.llm import Completion, Prompt

Reply = Callable[[Prompt, int], str]
"""What is written: of a prompt, asked for the first time (0), the second (1) ..."""


class ScriptedWriter:
    """Calls last as long as `delays` says, in turn. `most` is how many there were at the same time."""

    def __init__(self, reply: Reply, delays: Iterator[float] | None = None) -> None:
        self.prompts: list[Prompt] = []
        self.most = 0
        self._reply = reply
        self._delays = delays
        self._now = 0
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt) -> Completion:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            before = sum(passage_of(each) == passage_of(prompt) for each in self.prompts)
            self.prompts.append(prompt)
            delay = next(self._delays) if self._delays else 0
        try:
            time.sleep(delay)
            return Completion(self._reply(prompt, before), prompt_tokens=100, completion_tokens=20)
        finally:
            with self._lock:
                self._now -= 1

    def asked(self, word: str) -> int:
        """How often it was asked about a passage with this word in it."""
        return sum(word in passage_of(prompt) for prompt in self.prompts)


def passage_of(prompt: Prompt) -> str:
    """What is between the tags of the passage, or of the whole document."""
    found = re.search(r"<(passage|document)-(\w+)>\n(.*)\n</\1-\2>", prompt.user, re.DOTALL)
    return found[3] if found else ""
