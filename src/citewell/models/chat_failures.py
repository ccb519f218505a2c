"""What a chat endpoint's failure means, in our words, and whether it passes.

Of what an endpoint answers when it refuses, only the status and pydantic-ai's category of it are used: its own words
may hold the key or the documents' text.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.errors import PromptRefused, ServiceError, ServiceRefused, ServiceUnreachable
from citewell.models.endpoint import shown

if TYPE_CHECKING:
    from pydantic_ai.exceptions import AgentRunError

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 8.0
PASSING = {408, 409, 425}
TOO_LARGE = 413


class PromptTooLong(PromptRefused):
    """Another way to ask the same does not help."""


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """A model at a URL, as an error shows it: `keys` names the variables for its key, `path` what its URL ends in."""

    model: str
    url: str
    keys: str
    path: str

    def explain(self, error: AgentRunError, begun: bool, timeout_s: float) -> ServiceError:
        """Say what failed in a call of `timeout_s`: the first of pydantic-ai's categories that fits. `begun`: some of
        the answer had come."""
        from pydantic_ai import exceptions as kinds

        url = f"Check models.llm_url, {self.path}"
        shorter = "Lower generation.passage_tokens."
        slow = f"no answer in {timeout_s:g} s"
        told = getattr(error, "retry_after", None)
        many = "too many requests" if told is None else f"too many requests, and it asks to wait {told:,.0f} s"
        lost = "the connection broke in the middle of the answer" if begun else "no connection"
        refused, gone = ServiceRefused, ServiceUnreachable
        table: list[tuple[type[AgentRunError], type[ServiceError], str, str]] = [
            (kinds.ModelAuthenticationError, refused, "it does not accept the key", f"Set {self.keys} to a valid key."),
            (kinds.ModelNotFoundError, refused, f"it has no model {self.model!r}", f"{url}, and models.llm."),
            (kinds.ModelQuotaExceededError, refused, "the account's quota is used up", "Top it up."),
            (kinds.ModelContextWindowExceededError, PromptTooLong, "the prompt is too long", shorter),
            (kinds.ModelRequestRejectedError, PromptRefused, "it rejects the request", f"{url}, and models.llm."),
            (kinds.ModelRateLimitError, gone, many, "Try again later."),
            (kinds.ModelHTTPError, gone, "it fails", "Try again later."),
            (kinds.ModelRequestTimeout, gone, slow, "Try again, or raise models.llm_timeout_s."),
            (kinds.ModelConnectionError, gone, lost, f"{url}, and that the server runs."),
        ]
        status = getattr(error, "status_code", None)
        said = f"{self.place} answered {status}: " if status else f"{self.place}: "
        if status == TOO_LARGE:
            return PromptTooLong(f"{said}the prompt is too long.", remedy=shorter)
        for kind, failure, what, remedy in table:
            if isinstance(error, kind):
                return failure(f"{said}{what}.", remedy=remedy)
        if begun:
            return ServiceUnreachable(f"{said}its answer breaks off.", remedy="Try again.")
        return ServiceUnreachable(f"{said}what it sent is no chat completion.", remedy=f"{url}.")

    @property
    def place(self) -> str:
        """The URL as an error may show it."""
        return shown(urlsplit(self.url))


def wait_after(error: AgentRunError, tries: int) -> float | None:
    """Seconds to wait for what passes, after so many tries; None for what does not pass.

    As the endpoint says, or doubled each time, with a quarter of chance, so that many clients do not come back at once.
    """
    from pydantic_ai import exceptions as kinds

    passes = isinstance(
        error,
        kinds.ModelRateLimitError | kinds.ModelUnavailableError | kinds.ModelServerError | kinds.ModelConnectionError,
    )
    if not isinstance(error, kinds.ModelAPIError) or not (passes or getattr(error, "status_code", 0) in PASSING):
        return None
    if error.retry_after is not None:
        return error.retry_after
    return min(FIRST_WAIT_S * 2.0 ** (tries - 1), LONGEST_WAIT_S) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
