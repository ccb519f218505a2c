"""Anthropic's models, by its Messages API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from citewell.models.chat_failures import ChatPlace
from citewell.models.provider_keys import NOT_SENT, KeysOf

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

ANTHROPIC = KeysOf("https://api.anthropic.com", "ANTHROPIC_API_KEY")


@dataclass(frozen=True, slots=True)
class Anthropic:
    """The `Provider` of a model at `url` (up to but without "/v1"; Anthropic's own where empty).

    The key is read from the environment at each call: `CITEWELL_LLM_API_KEY`, or `ANTHROPIC_API_KEY`, which is sent to
    Anthropic alone. The rules of a prompt, which many questions share, are marked for the endpoint's cache.
    """

    model: str
    url: str = ""
    package: ClassVar[str] = "anthropic"

    @property
    def place(self) -> ChatPlace:
        keys = " or ".join(ANTHROPIC.variables(self.url))
        return ChatPlace(self.model, self.url or ANTHROPIC.url, keys, 'to which "/v1/messages" is added')

    def key(self) -> str:
        return ANTHROPIC.key(self.url)

    def made(self, connection: AsyncClient) -> Model:
        from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
        from pydantic_ai.providers.anthropic import AnthropicProvider

        provider = AnthropicProvider(api_key=NOT_SENT, base_url=self.url or ANTHROPIC.url, http_client=connection)
        cached = AnthropicModelSettings(anthropic_cache_instructions=True)
        return AnthropicModel(self.model, provider=provider, settings=cached)
