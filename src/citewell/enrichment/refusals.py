"""Some prompts refused, or all of them: a filter that finds fault with a passage stops nothing, a wrong URL must."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from citewell.errors import PromptRefused, ServiceRefused

MOST_REFUSED = 5
"""In a run in which nothing was answered; a file whose only passage is refused may well be its first."""


@dataclass(slots=True)
class Refusals:
    """Those of one run, of all its threads and documents, as long as nothing is answered in it."""

    _answered: bool = False
    _refused: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def answered(self) -> None:
        """From now on no refusal tells of the endpoint."""
        self._answered = True

    def add(self, refusal: PromptRefused) -> None:
        """Raises:
        ServiceRefused: it is the last that a run may have before anything is answered.
        """
        with self._counting:
            self._refused += 1
            if self._refused >= MOST_REFUSED and not self._answered:
                raise ServiceRefused(
                    f"The language model refused {MOST_REFUSED} prompts and answered none. {refusal.message}",
                    remedy="Check models.llm_url and models.llm, and that the model reads prompts of 4,096 tokens.",
                ) from refusal
