"""An endpoint that takes no JSON schema is asked without one, and from then on at once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from citewell.errors import PromptRefused
from citewell.models.chat_failures import PromptTooLong
from citewell.models.llm import Completion, Prompt, Stream, StreamingLLM


@dataclass(frozen=True, slots=True)
class SchemaOptional:
    """A `StreamingLLM` that passes on to `llm`, which is one model at one endpoint.

    A prompt with a schema that is refused is put once more without; where that is answered, it was the schema. This is
    remembered as long as the object lives and nowhere else, so that an endpoint that has learned it is found out in the
    next run. What could not be reached or is busy has refused nothing.

    Safe to share between threads.
    """

    llm: StreamingLLM
    _takes_none: threading.Event = field(default_factory=threading.Event, init=False, compare=False, repr=False)

    def complete(self, prompt: Prompt) -> Completion:
        """As `LLM.complete`."""
        if prompt.json_schema is None:
            return self.llm.complete(prompt)
        bare = replace(prompt, json_schema=None)
        if self._takes_none.is_set():
            return self.llm.complete(bare)
        try:
            return self.llm.complete(prompt)
        except PromptTooLong:
            raise
        except PromptRefused:
            completion = self.llm.complete(bare)
        self._takes_none.set()
        return completion

    def stream(self, prompt: Prompt) -> Stream:
        """As `StreamingLLM.stream`, with the schema as it is given."""
        return self.llm.stream(prompt)
