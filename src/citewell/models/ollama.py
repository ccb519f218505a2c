"""A model in Ollama, on this machine or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from citewell.models.chat_failures import ChatPlace
from citewell.models.provider_keys import NOT_SENT

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

OLLAMA_URL = "http://127.0.0.1:11434/v1"


@dataclass(frozen=True, slots=True)
class Ollama:
    """The `Provider` of a model at `url` (up to and with "/v1"; Ollama on this machine where empty). No key is sent."""

    model: str
    url: str = ""
    package: ClassVar[str] = "openai"

    @property
    def place(self) -> ChatPlace:
        advice = f'which usually ends in "/v1", and that `ollama pull {self.model}` was done'
        return ChatPlace(self.model, self.url or OLLAMA_URL, "no key", advice)

    def key(self) -> str:
        return ""

    def made(self, connection: AsyncClient) -> Model:
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.ollama import OllamaProvider

        profile = OpenAIModelProfile(
            openai_chat_streaming_requires_finish_reason=True, openai_chat_supports_max_completion_tokens=False
        )
        provider = OllamaProvider(base_url=self.url or OLLAMA_URL, api_key=NOT_SENT, http_client=connection)
        return OllamaModel(self.model, provider=provider, profile=profile)
