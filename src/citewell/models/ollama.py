"""A model in Ollama, on this machine or another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.models.chat import Chat, require
from citewell.models.chat_failures import ChatPlace, require_url
from citewell.models.llm import Completion, Prompt, Stream

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

OLLAMA_URL = "http://127.0.0.1:11434/v1"
_NO_KEY = "ollama"
"""Sent in the place of one: without it, the library would look for a key in the environment."""


@dataclass(frozen=True, slots=True)
class Ollama:
    """A `StreamingLLM` at `url` (up to and with "/v1"; Ollama on this machine where empty). No key is sent.

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
        url = self.url or OLLAMA_URL
        advice = f'which usually ends in "/v1", and that `ollama pull {self.model}` was done'
        return Chat(self._made, ChatPlace(self.model, url, "no key", advice, self.timeout_s), self.max_retries)

    def _made(self, connection: AsyncClient) -> Model:
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.ollama import OllamaProvider

        profile = OpenAIModelProfile(
            openai_chat_streaming_requires_finish_reason=True, openai_chat_supports_max_completion_tokens=False
        )
        provider = OllamaProvider(base_url=self.url or OLLAMA_URL, api_key=_NO_KEY, http_client=connection)
        return OllamaModel(self.model, provider=provider, profile=profile)
