"""A language model that remembers: a run that was stopped goes on, and the same prompt is paid for once."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.models.llm import LLM, Completion, Prompt


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: str
    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    seconds: float


class RememberedLLM:
    """`llm` under the name `model`, with what it wrote kept in a file of the owner's, a line each.

    `saved_s` adds up the seconds that remembered completions took when they were made, so that times can be told as
    they would be without it. A line that a kill cut short is passed over.
    """

    def __init__(self, llm: LLM, model: str, path: Path) -> None:
        self.saved_s = 0.0
        self._llm = llm
        self._model = model
        self._path = path
        self._known = {line.key: line for line in _lines(path)}

    def complete(self, prompt: Prompt) -> Completion:
        """As `LLM.complete`; a failure is not remembered."""
        key = _key(self._model, prompt)
        line = self._known.get(key)
        if line is not None:
            self.saved_s += line.seconds
        else:
            begin = time.perf_counter()
            made = self._llm.complete(prompt)
            line = _Line(
                key=key,
                text=made.text.encode("utf-8", "replace").decode(),  # half a surrogate pair is no text
                prompt_tokens=made.prompt_tokens,
                completion_tokens=made.completion_tokens,
                finish_reason=made.finish_reason,
                seconds=time.perf_counter() - begin,
            )
            self._keep(line)
        return Completion(line.text, line.prompt_tokens, line.completion_tokens, line.finish_reason)

    def _keep(self, line: _Line) -> None:
        self._known[line.key] = line
        # Begins with a line break: what a kill left without one must not swallow it.
        data = f"\n{line.model_dump_json()}\n".encode()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, data)
        finally:
            os.close(file)


def _key(model: str, prompt: Prompt) -> str:
    content = json.dumps([model, prompt.system, prompt.user, prompt.max_tokens])
    return hashlib.sha256(content.encode()).hexdigest()


def _lines(path: Path) -> list[_Line]:
    if not path.exists():
        return []
    lines = []
    for text in path.read_bytes().splitlines():
        try:
            lines.append(_Line.model_validate_json(text))
        except ValidationError:
            continue  # cut short, or empty: its prompt is asked again
    return lines
