"""OpenAI, and any endpoint that speaks its chat protocol: vLLM, llama.cpp, a gateway of your own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from citewell.models.chat_failures import ChatPlace
from citewell.models.provider_keys import NOT_SENT, KeysOf

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI = KeysOf(OPENAI_URL, OPENAI_KEY_VARIABLE)


@dataclass(frozen=True, slots=True)
class OpenAICompatible:
    """The `Provider` of a model at `url` (up to and with "/v1"; OpenAI's own where empty).

    The key comes from the environment at each call and is never kept: `CITEWELL_LLM_API_KEY`, or `OPENAI_API_KEY`,
    which is sent to OpenAI alone, so that a settings file with a foreign `url` cannot carry it off.
    """

    model: str
    url: str = ""
    package: ClassVar[str] = "openai"

    @property
    def place(self) -> ChatPlace:
        keys = " or ".join(OPENAI.variables(self.url))
        return ChatPlace(self.model, self.url or OPENAI_URL, keys, 'which usually ends in "/v1"')

    def key(self) -> str:
        return OPENAI.key(self.url)

    def made(self, connection: AsyncClient) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        # A stream that ends without saying why has broken off.
        whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
        if OPENAI.is_at(self.url):
            own = OpenAIProvider(self.url or OPENAI_URL, NOT_SENT, http_client=connection)
            return OpenAIChatModel(self.model, provider=own, profile=whole)
        # `max_tokens` is the older name of the limit: every server but OpenAI's newest models knows it.
        older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        provider = OpenAICompatibleProvider(
            "citewell", base_url=self.url, api_key=NOT_SENT, http_client=connection, profile=older
        )
        return OpenAIChatModel(self.model, provider=provider, profile=whole)
