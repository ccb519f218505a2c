"""OpenAI, and any endpoint that speaks its chat protocol: vLLM, llama.cpp, a gateway of your own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.models.chat import Chat, require
from citewell.models.chat_failures import ChatPlace, require_url
from citewell.models.llm import Completion, Prompt, Stream
from citewell.models.provider_keys import Provider

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI = Provider(OPENAI_URL, OPENAI_KEY_VARIABLE)


@dataclass(frozen=True, slots=True)
class OpenAICompatible:
    """A `StreamingLLM` at `url` (up to and with "/v1"; OpenAI's own where empty).

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
        require("openai")
        require_url(self.url)

    def complete(self, prompt: Prompt) -> Completion:
        return self._chat.complete(prompt)

    def stream(self, prompt: Prompt) -> Stream:
        return self._chat.stream(prompt)

    @property
    def _chat(self) -> Chat:
        keys = " or ".join(OPENAI.variables(self.url))
        place = ChatPlace(self.model, self.url or OPENAI_URL, keys, 'which usually ends in "/v1"', self.timeout_s)
        return Chat(self._made, place, self.max_retries)

    def _made(self, connection: AsyncClient) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        key = OPENAI.key(self.url)
        # A stream that ends without saying why has broken off.
        whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
        if OPENAI.is_at(self.url):
            own = OpenAIProvider(self.url or OPENAI_URL, key, http_client=connection)
            return OpenAIChatModel(self.model, provider=own, profile=whole)
        # `max_tokens` is the older name of the limit: every server but OpenAI's newest models knows it.
        older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        provider = OpenAICompatibleProvider(
            "citewell", base_url=self.url, api_key=key or None, http_client=connection, profile=older
        )
        return OpenAIChatModel(self.model, provider=provider, profile=whole)
