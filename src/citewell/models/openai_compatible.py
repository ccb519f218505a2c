"""Any OpenAI-compatible chat endpoint, through pydantic-ai: it knows which parameters a model takes, sorts the many
ways to fail into categories, and breaks up chat-template tokens in documents before an open model reads them.

pydantic-ai is asynchronous inside, and its synchronous twin cannot run where a loop already does (a notebook, a
request handler). So each call gets a thread with a loop of its own, and leaves no connection behind.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from citewell.errors import ServiceError, ServiceRefused, ServiceUnreachable, UsageError
from citewell.models.llm import Completion, Prompt

if TYPE_CHECKING:
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.models.openai import OpenAIChatModel

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
KEY_VARIABLE = "CITEWELL_LLM_API_KEY"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
INSTALL = "Install it: pip install 'citewell[llm]'."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpenAICompatible:
    """An `LLM` at `url` (up to and with "/v1"; OpenAI's own where empty).

    The key comes from the environment at each call and is never kept: `CITEWELL_LLM_API_KEY`, or `OPENAI_API_KEY`,
    which is sent to OpenAI alone, so that a settings file with a foreign `url` cannot carry it off. `timeout_s` bounds
    a call with its retries; a "Retry-After" is waited for within it.

    Raises:
        UsageError: the extra `llm` is not installed, or `url` is none.
    """

    model: str
    url: str = ""
    timeout_s: float = 60
    max_retries: int = 2

    def __post_init__(self) -> None:
        missing = [name for name in ("pydantic_ai", "openai") if find_spec(name) is None]
        if missing:
            raise UsageError(f"A language model needs {' and '.join(missing)}, not installed here.", remedy=INSTALL)
        try:
            _ = urlsplit(self.url).port
        except ValueError as error:
            raise UsageError(f"models.llm_url is not a URL: {error}.", remedy="Correct it in the settings.") from None

    def complete(self, prompt: Prompt) -> Completion:
        key = self._key()
        return _in_own_loop(lambda: self._request(prompt, key))

    def _key(self) -> str:
        key = os.environ.get(KEY_VARIABLE, "")
        if key or not self._is_openai:
            return key
        key = os.environ.get(OPENAI_KEY_VARIABLE, "")
        if not key:
            raise ServiceRefused(
                f"There is no key for {self._place}.",
                remedy=f"Set {KEY_VARIABLE} or {OPENAI_KEY_VARIABLE} in the environment, or llm_url to another server.",
            )
        return key

    async def _request(self, prompt: Prompt, key: str) -> Completion:
        try:
            from pydantic_ai.direct import model_request
            from pydantic_ai.exceptions import AgentRunError
            from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
            from pydantic_ai.settings import ModelSettings
        except ImportError as error:
            raise UsageError(f"The extra citewell[llm] is installed, but broken: {error}.", remedy=INSTALL) from error
        settings = ModelSettings(
            temperature=0,
            max_tokens=prompt.max_tokens,
            timeout=self.timeout_s,
            request_timeout=self.timeout_s,
            max_retries=self.max_retries,
        )
        message = ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])
        try:
            async with self._model(key) as model:
                reply = await model_request(model, [message], model_settings=settings, instrument=False)
        except AgentRunError as error:
            # Not chained: the endpoint's own words may hold the key or the documents' text.
            raise self._explain(error) from None
        except IndexError:
            # What pydantic-ai makes of a reply without choices.
            raise self._explain(AgentRunError("no choices")) from None
        return Completion(
            text=reply.text or "",
            prompt_tokens=reply.usage.input_tokens,
            completion_tokens=reply.usage.output_tokens,
            finish_reason=reply.finish_reason or "",
        )

    def _model(self, key: str) -> OpenAIChatModel:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        if self._is_openai:
            return OpenAIChatModel(self.model, provider=OpenAIProvider(self.url or OPENAI_URL, key))
        # `max_tokens` is the older name of the limit: every server but OpenAI's newest models knows it.
        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        provider = OpenAICompatibleProvider("citewell", base_url=self.url, api_key=key or None, profile=profile)
        return OpenAIChatModel(self.model, provider=provider)

    @property
    def _is_openai(self) -> bool:
        return urlsplit(self.url or OPENAI_URL).hostname == OPENAI_HOST

    @property
    def _place(self) -> str:
        """The endpoint as an error may show it: without the user, password or query that a URL can hold."""
        parts = urlsplit(self.url or OPENAI_URL)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def _explain(self, error: AgentRunError) -> ServiceError:
        """Say what failed in our words: the first of pydantic-ai's categories that fits."""
        from pydantic_ai import exceptions as kinds

        keys = f"Set {KEY_VARIABLE}{f' or {OPENAI_KEY_VARIABLE}' if self._is_openai else ''} to a valid key."
        url = 'Check models.llm_url, which usually ends in "/v1"'
        shorter = "Lower generation.passage_tokens."
        slow = f"no answer in {self.timeout_s:g} s"
        table: list[tuple[type[AgentRunError], type[ServiceError], str, str]] = [
            (kinds.ModelAuthenticationError, ServiceRefused, "it does not accept the key", keys),
            (kinds.ModelNotFoundError, ServiceRefused, f"it has no model {self.model!r}", f"{url}, and models.llm."),
            (kinds.ModelQuotaExceededError, ServiceRefused, "the account's quota is used up", "Top it up."),
            (kinds.ModelContextWindowExceededError, ServiceRefused, "the prompt is too long", shorter),
            (kinds.ModelRequestRejectedError, ServiceRefused, "it rejects the request", f"{url}, and models.llm."),
            (kinds.ModelRateLimitError, ServiceUnreachable, "too many requests", "Try again later."),
            (kinds.ModelHTTPError, ServiceUnreachable, "it fails", "Try again later."),
            (kinds.ModelRequestTimeout, ServiceUnreachable, slow, "Try again, or raise models.llm_timeout_s."),
            (kinds.ModelConnectionError, ServiceUnreachable, "no connection", f"{url}, and that the server runs."),
        ]
        status = getattr(error, "status_code", None)
        said = f"{self._place} answered {status}: " if status else f"{self._place}: "
        for kind, failure, what, remedy in table:
            if isinstance(error, kind):
                return failure(f"{said}{what}.", remedy=remedy)
        return ServiceUnreachable(f"{said}what it sent is no chat completion.", remedy=f"{url}.")


def _in_own_loop(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `call()` to its end in a new thread. The thread is a daemon: Ctrl-C does not wait for an endpoint."""
    outcome: Future[T] = Future()

    def work() -> None:
        try:
            outcome.set_result(asyncio.run(call()))
        except BaseException as error:  # noqa: BLE001  handed to the caller, who raises it
            outcome.set_exception(error)

    threading.Thread(target=work, name="citewell-llm", daemon=True).start()
    return outcome.result()
