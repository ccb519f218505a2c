"""A chat model at an endpoint, through pydantic-ai: it knows which parameters a model takes, sorts the many ways to
fail into categories, and breaks up chat-template tokens in documents before an open model reads them.

What a provider adds is how its model is made and where it is; what is asked, waited for and given back is here. Each
call has a connection of its own, which is closed with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit

from citewell.errors import UsageError
from citewell.models.chat_failures import ChatPlace, wait_after
from citewell.models.endpoint import checked, is_loopback, require_safe
from citewell.models.llm import Completion, Prompt, Stream
from citewell.models.own_loop import each
from citewell.models.provider_keys import LLM_URL

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncClient, Request
    from pydantic_ai.messages import ModelRequest, ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

CONNECT_S = 5.0
"""For a connection to come about."""
INSTALL = "Install it: pip install 'citewell[llm]'."
SENT = {
    "accept",
    "accept-encoding",
    "anthropic-version",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
}
"""Headers that go along with a request, besides the key."""

# What pydantic-ai and the clients below it raise of a reply that is JSON, but of no shape they know.
_SHAPELESS = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)

T = TypeVar("T")


class Provider(Protocol):
    """Whose model it is: where it is, and how it is made of a connection, anew for each try."""

    @property
    def url(self) -> str:
        """As it was given; "" is the provider's own."""
        ...

    @property
    def place(self) -> ChatPlace: ...

    @property
    def package(self) -> str:
        """The client library below pydantic-ai that it needs."""
        ...

    def key(self) -> str:
        """From the environment; "" where none is sent.

        Raises:
            ServiceRefused: there is none, and the provider needs one.
            SettingsError: what is set is no key.
        """
        ...

    def made(self, connection: AsyncClient) -> Model:
        """The key goes along with what is sent over `connection`."""
        ...


@dataclass(frozen=True, slots=True)
class Chat:
    """A `StreamingLLM`: a provider's model at its endpoint.

    `timeout_s` bounds a call with its retries. What passes is tried again up to `max_retries` times, as long as
    nothing of the answer has come: when the endpoint said ("Retry-After"), or after waits that double. Where it asks
    for more time than is left, the call fails at once.

    Raises:
        UsageError: the extra `llm` is not installed.
        SettingsError: the provider's URL is none, or holds a password; at a call: the key is none, or would go over an
            open connection.
    """

    provider: Provider
    timeout_s: float = 60
    max_retries: int = 2

    def __post_init__(self) -> None:
        require(self.provider.package)
        if self.provider.url:
            checked(self.provider.url, LLM_URL)

    def complete(self, prompt: Prompt) -> Completion:
        """As `LLM.complete`."""
        with closing(each(partial(self._tried, partial(self._whole, prompt)))) as replies:
            return next(replies)

    def stream(self, prompt: Prompt) -> Stream:
        """As `StreamingLLM.stream`. A reader who is 1,024 pieces behind uses up `timeout_s`."""
        return Stream(each(partial(self._tried, partial(self._pieces, prompt))))

    async def _tried(self, attempt: Callable[[float], AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
        """What `attempt` yields, given the seconds that are left; made again where it fails before it yields."""
        _load()
        from pydantic_ai.exceptions import AgentRunError

        until = time.monotonic() + self.timeout_s
        for tries in count(1):
            begun = False
            try:
                async with aclosing(attempt(until - time.monotonic())) as parts:
                    async for part in parts:
                        begun = True
                        yield part
            except AgentRunError as error:
                wait, failure = wait_after(error, tries), self.provider.place.explain(error, begun, self.timeout_s)
            else:
                return
            if begun or wait is None or tries > self.max_retries or time.monotonic() + wait > until:
                # Outside the handler: the endpoint's own words may hold the key or the documents' text.
                raise failure
            await asyncio.sleep(wait)

    async def _whole(self, prompt: Prompt, left_s: float) -> AsyncGenerator[Completion, None]:
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import UnexpectedModelBehavior

        async with self._connection(left_s) as connection:
            model = self.provider.made(connection)
            settings, parameters = _settings(model, prompt, left_s), _parameters(model, prompt)
            try:
                reply = await model_request(
                    model,
                    [_message(prompt)],
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                )
            except _SHAPELESS:
                raise UnexpectedModelBehavior("no chat completion") from None
        yield _completion(reply, reply.text or "")

    async def _pieces(self, prompt: Prompt, left_s: float) -> AsyncGenerator[str | Completion, None]:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.exceptions import UnexpectedModelBehavior

        async with self._connection(left_s) as connection:
            model = self.provider.made(connection)
            settings, parameters = _settings(model, prompt, left_s), _parameters(model, prompt)
            counts = Completion("")
            try:
                async with model_request_stream(
                    model,
                    [_message(prompt)],
                    model_settings=settings,
                    model_request_parameters=parameters,
                    instrument=False,
                ) as events:
                    async for event in events:
                        if (now := _completion(events)) != counts:
                            yield (counts := now)
                        if text := _text(event):
                            yield text
                    last = _completion(events)
            except _SHAPELESS:
                raise UnexpectedModelBehavior("no chat completion") from None
            if not last.finish_reason:
                raise UnexpectedModelBehavior("the stream ended before its end")
            yield last

    def _connection(self, left_s: float) -> AsyncClient:
        from httpx2 import AsyncClient, Timeout

        url, key = urlsplit(self.provider.place.url), self.provider.key()
        require_safe(key, url, LLM_URL)
        return AsyncClient(
            verify=_certificates(),
            timeout=Timeout(left_s, connect=min(left_s, CONNECT_S)),
            # What goes to this machine must not take the way through a proxy that the environment names.
            trust_env=not is_loopback(url.hostname or ""),
            event_hooks={"request": [partial(_only_ours, key)]},
        )


def require(*packages: str) -> None:
    """
    Raises:
        UsageError: one of these packages, or pydantic-ai, is not installed.
    """
    missing = [name for name in ("pydantic_ai", *packages) if find_spec(name) is None]
    if missing:
        raise UsageError(f"A language model needs {' and '.join(missing)}, not installed here.", remedy=INSTALL)


def _load() -> None:
    try:
        import_module("pydantic_ai.direct")
    except ImportError as error:
        raise UsageError(f"The extra citewell[llm] is installed, but broken: {error}.", remedy=INSTALL) from error


async def _only_ours(key: str, request: Request) -> None:
    """Takes out what the provider's library adds from the environment, which may be a secret for somebody else, such
    as `OPENAI_CUSTOM_HEADERS` or `OPENAI_ORG_ID`; and puts in the key."""
    from httpx2 import Headers

    request.headers = Headers([pair for pair in request.headers.multi_items() if pair[0].lower() in SENT])
    if key:
        request.headers["Authorization"] = f"Bearer {key}"


@cache
def _certificates() -> SSLContext:
    """Those that are trusted, read once: it takes longer than all else that is done here for a call."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _message(prompt: Prompt) -> ModelRequest:
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

    return ModelRequest(parts=[SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])


def _settings(model: Model, prompt: Prompt, left_s: float) -> ModelSettings:
    """As deterministic as the model can be. One that thinks unasked is told not to, or as little as it can: its
    thoughts count against `max_tokens`, and would leave no room for the answer."""
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(max_tokens=prompt.max_tokens, request_timeout=left_s, max_retries=0)
    profile: dict[str, object] = {**model.profile}
    if profile.get("thinking_enabled_by_default") or profile.get("thinking_always_enabled"):
        settings["thinking"] = False
    elif not profile.get("anthropic_disallows_sampling_settings"):
        settings["temperature"] = 0
    return settings


def _parameters(model: Model, prompt: Prompt) -> ModelRequestParameters:
    """What holds a model to the schema: its grammar, else that what it writes is JSON, else nothing."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if prompt.json_schema is None:
        return ModelRequestParameters()
    return ModelRequestParameters(
        output_mode="native" if model.profile.get("supports_json_schema_output", False) else "prompted",
        output_object=OutputObjectDefinition(json_schema=dict(prompt.json_schema), name="reply"),
        prompted_output_template=False,
    )


def _completion(reply: ModelResponse | StreamedResponse, text: str = "") -> Completion:
    usage = reply.usage
    return Completion(
        text, usage.input_tokens, usage.output_tokens, reply.finish_reason or "", cached_tokens=usage.cache_read_tokens
    )


def _text(event: ModelResponseStreamEvent) -> str:
    """The text that it adds; "" for any other event, such as a thought."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
