"""A language model that remembers: a run that was stopped goes on, and the same prompt is paid for once."""

from __future__ import annotations

import time
from pathlib import Path

from citewell.evaluation.kept import Kept, Line, key_of
from citewell.models.llm import LLM, Completion, Prompt


class _Completed(Line):
    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    seconds: float


class RememberedLLM:
    """`llm` under the name `model`, which tells it from all others, with what it wrote kept in a file.

    `saved_s` adds up the seconds that remembered completions took when they were made, so that times can be told as
    they would be without it.
    """

    def __init__(self, llm: LLM, model: str, path: Path) -> None:
        self.saved_s = 0.0
        self._llm = llm
        self._model = model
        self._kept = Kept(_Completed, path)

    def complete(self, prompt: Prompt) -> Completion:
        """As `LLM.complete`; a failure is not remembered.

        Raises:
            PermissionRefused, DiskFull: the file cannot be written.
        """
        key = key_of(self._model, prompt.system, prompt.user, prompt.max_tokens)
        line = self._kept.get(key)
        if line is not None:
            self.saved_s += line.seconds
        else:
            begin = time.perf_counter()
            made = self._llm.complete(prompt)
            line = _Completed(
                key=key,
                text=made.text.encode("utf-8", "replace").decode(),  # half a surrogate pair is no text
                prompt_tokens=made.prompt_tokens,
                completion_tokens=made.completion_tokens,
                finish_reason=made.finish_reason,
                seconds=time.perf_counter() - begin,
            )
            self._kept.add(line)
        return Completion(line.text, line.prompt_tokens, line.completion_tokens, line.finish_reason)
