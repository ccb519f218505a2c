"""Anthropic's models, by its Messages API."""

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

ANTHROPIC = Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY")
_NO_KEY = "none"
"""Sent in the place of one: without it, the library would look for a key in the environment."""


@dataclass(frozen=True, slots=True)
class Anthropic:
    """A `StreamingLLM` at `url` (up to but without "/v1"; Anthropic's own where empty).

    The key is read from the environment at each call: `CITEWELL_LLM_API_KEY`, or `ANTHROPIC_API_KEY`, which is sent to
    Anthropic alone. The rules of a prompt, which many questions share, are marked for the endpoint's cache.

    Raises:
        UsageError: the extra `llm` is not installed, or `url` is none.
    """

    model: str
    url: str = ""
    timeout_s: float = 60
    max_retries: int = 2

    def __post_init__(self) -> None:
        require("anthropic")
        require_url(self.url)

    def complete(self, prompt: Prompt) -> Completion:
        return self._chat.complete(prompt)

    def stream(self, prompt: Prompt) -> Stream:
        return self._chat.stream(prompt)

    @property
    def _chat(self) -> Chat:
        keys = " or ".join(ANTHROPIC.variables(self.url))
        path = 'to which "/v1/messages" is added'
        return Chat(
            self._made,
            ChatPlace(self.model, self.url or ANTHROPIC.url, keys, path, self.timeout_s),
            self.max_retries,
        )

    def _made(self, connection: AsyncClient) -> Model:
        from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
        from pydantic_ai.providers.anthropic import AnthropicProvider

        key = ANTHROPIC.key(self.url) or _NO_KEY
        provider = AnthropicProvider(api_key=key, base_url=self.url or ANTHROPIC.url, http_client=connection)
        cached = AnthropicModelSettings(anthropic_cache_instructions=True)
        return AnthropicModel(self.model, provider=provider, settings=cached)
