"""One URL that takes JSON and gives JSON: what passes is waited for, what does not pass is said in our words.

Of what a server answers when it refuses, only the status, its times and a known code are used: its own words may hold
the key or the documents' text.
"""

from __future__ import annotations

import ipaddress
import os
import random
import re
import time
import weakref
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ValidationError

from citewell.errors import ServiceError, ServiceRefused, ServiceUnreachable, SettingsError
from citewell.models.waiting import pause

if TYPE_CHECKING:
    from httpx2 import Client, Response

MAX_TRIES = 8
"""Of what does not say when to come back: with the waits between them a minute, which is what limits are counted in."""
CONNECTION_TRIES = 3
"""Of what does not answer at all: more often a wrong URL than a server that is just starting."""
FIRST_WAIT_S, LONGEST_WAIT_S, SHORTEST_WAIT_S = 0.5, 32.0, 0.1
MAX_BYTES = 64_000_000
MAX_ERROR_BYTES = 65_536

TOO_MANY = 429
PASSING = {408, 425, TOO_MANY, 500, 502, 503, 504, 529}
QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}


@dataclass(frozen=True, slots=True)
class _Failure:
    """A try that failed, of which there may be so many; `told_s` is how long the server asks to wait."""

    error: ServiceError
    tries: int = 1
    told_s: float | None = None


class Endpoint:
    """POSTs to what is called `name` below `url`; `timeout_s` bounds one try.

    For what an error advises, `setting` is what names the model, and `shorter` what to lower for texts too long.

    Raises:
        SettingsError: `url` is none, or holds a password.
    """

    def __init__(self, url: str, name: str, timeout_s: float, *, setting: str, shorter: str) -> None:
        base = checked(url, f"{setting}_url")
        self._url = base._replace(path=f"{base.path.rstrip('/')}/{name}")
        self._timeout_s = timeout_s
        self._setting = setting
        self._shorter = shorter

    @property
    def host(self) -> str:
        return self._url.hostname or ""

    @property
    def place(self) -> str:
        """The URL as an error may show it."""
        return shown(self._url)

    def post(self, body: bytes, key: str, patience_s: float, timeout_s: float | None = None) -> bytes:
        """The body of the answer to a JSON `body`. `key`, where not empty, goes along as a bearer token.

        What passes is tried again: when the server said ("Retry-After"), or after waits that double; no longer than
        `patience_s` in all, and without such a word at most `MAX_TRIES` times. See `citewell.models.waiting`.
        `timeout_s` bounds a try of this call, in the place of the endpoint's own.

        Raises:
            SettingsError: the key would go over an open connection.
            ServiceUnreachable: no connection, no answer in time, or a fault that outlasted the patience.
            ServiceRefused: the answer is no.
        """
        require_safe(key, self._url, f"{self._setting}_url")
        until = time.monotonic() + patience_s
        untold = 0
        while True:
            outcome = self._try(body, key, self._timeout_s if timeout_s is None else timeout_s)
            if isinstance(outcome, bytes):
                return outcome
            untold += outcome.told_s is None
            wait = _backoff(untold) if outcome.told_s is None else max(outcome.told_s, SHORTEST_WAIT_S)
            if outcome.tries == 1 or untold >= outcome.tries or time.monotonic() + wait > until:
                raise outcome.error
            pause(wait)

    def _try(self, body: bytes, key: str, timeout_s: float) -> bytes | _Failure:
        from httpx2 import HTTPError, InvalidURL, TimeoutException

        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        until = time.monotonic() + timeout_s
        url = self._url.geturl()
        try:
            with self._client.stream("POST", url, content=body, headers=headers, timeout=timeout_s) as response:
                answer = self._read(response, MAX_BYTES if response.is_success else MAX_ERROR_BYTES, until)
                return answer if response.is_success else self._refusal(response, answer)
        except (TimeoutException, TimeoutError):
            slow = f"{self.place}: no answer in {round(timeout_s, 1):g} s."
            remedy = f"Try again, or raise {self._setting}_timeout_s."
            return _Failure(ServiceUnreachable(slow, remedy=remedy), CONNECTION_TRIES)
        except (HTTPError, InvalidURL) as error:
            # Not chained: its text may show the whole URL.
            message = f"{self.place}: no connection ({type(error).__name__})."
            remedy = f"Check {self._setting}_url, and that the server runs."
            return _Failure(ServiceUnreachable(message, remedy=remedy), CONNECTION_TRIES)

    def _read(self, response: Response, most: int, until: float) -> bytes:
        """The body, as far as `most` bytes: more of a refusal is not needed, more of an answer is none.

        The client's own time-out is for each packet; a body that comes a byte at a time would never end.
        """
        answer = bytearray()
        for piece in response.iter_bytes():
            answer += piece
            if time.monotonic() > until:
                raise TimeoutError
            if len(answer) > most:
                if response.is_success:
                    raise ServiceUnreachable(
                        f"{self.place} sends more than {most // 1_000_000} MB.",
                        remedy=f"Check {self._setting}_url.",
                    )
                break
        return bytes(answer)

    def _refusal(self, response: Response, answer: bytes) -> _Failure:
        status, told = response.status_code, _retry_after(response.headers.get("Retry-After"))
        said = f"{self.place} answered {status}"
        if status == 402 or _error_code(answer) in QUOTA_CODES:
            return _Failure(ServiceRefused(f"{said}: the account's quota is used up.", remedy="Top it up."))
        if status == TOO_MANY:
            when = "" if told is None else f", and asks to wait {told:,.0f} s"
            remedy = "Try again later; where it goes on, the account's quota is used up or too small."
            return _Failure(ServiceRefused(f"{said}: too many requests{when}.", remedy=remedy), MAX_TRIES, told)
        if status in PASSING or status >= 500:
            return _Failure(ServiceUnreachable(f"{said}: it fails.", remedy="Try again later."), MAX_TRIES, told)
        check = f'Check {self._setting}_url, which usually ends in "/v1", and the name in {self._setting}.'
        what, remedy = {
            401: ("it does not accept the key", "Set a valid key in the environment."),
            403: ("it does not accept the key", "Set a valid key in the environment."),
            404: ("it has no such model or path", check),
            413: ("the texts are too long", f"Lower {self._shorter}."),
        }.get(status, ("it rejects the request", f"{check} Texts too long? Lower {self._shorter}."))
        return _Failure(ServiceRefused(f"{said}: {what}.", remedy=remedy))

    @cached_property
    def _client(self) -> Client:
        import httpx2

        # What goes to this machine must not take the way through a proxy that the environment names.
        client = httpx2.Client(timeout=self._timeout_s, trust_env=not is_loopback(self.host))
        weakref.finalize(self, client.close)
        return client


def checked(url: str, setting: str) -> SplitResult:
    """The parts of a URL that `setting` gives.

    Raises:
        SettingsError: it is none, or holds a user or password.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # without its words: they may show a password
        raise SettingsError(f"{setting} is not a URL.", remedy="Correct it.") from None
    if not parts.hostname:
        raise SettingsError(f"{setting} names no host.", remedy="Correct it.")
    if "@" in parts.netloc:
        raise SettingsError(
            f"{setting} holds a user or password.", remedy="Take it out; a key is set in the environment."
        )
    return parts


def require_safe(key: str, url: SplitResult, setting: str) -> None:
    """
    Raises:
        SettingsError: a key would go to the URL that `setting` gives over an open connection.
    """
    if key and url.scheme != "https" and not is_loopback(url.hostname or ""):
        raise SettingsError(
            f"A key would be sent to {shown(url)} over an open connection.",
            remedy=f'Give {setting} with "https:", or unset the key.',
        )


def is_loopback(host: str) -> bool:
    """Whether it is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown(url: SplitResult) -> str:
    """A URL as an error may show it: without its query, which can hold a secret."""
    return url._replace(query="", fragment="").geturl()


def key_in(*variables: str) -> str:
    """The key in the first of these variables of the environment that is set; "" where none is.

    Raises:
        SettingsError: it is none.
    """
    name = next((name for name in variables if os.environ.get(name)), "")
    key = os.environ.get(name, "")
    if not re.fullmatch(r"[!-~]*", key):
        raise SettingsError(f"The key in {name} holds signs that no key has.", remedy="Copy it again, on one line.")
    return key


class _Error(BaseModel):
    code: str | int | None = None
    type: str | None = None


class _ErrorReply(BaseModel):
    error: _Error


def _error_code(answer: bytes) -> str:
    """The code in an error as OpenAI writes it; "" in any other."""
    try:
        error = _ErrorReply.model_validate_json(answer).error
    except ValidationError:
        return ""
    return str(error.code or error.type or "")


def _retry_after(value: str | None) -> float | None:
    """Seconds from now in a "Retry-After" (RFC 9110, 10.2.3), which has a number of them or a date; else None."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if seconds < float("inf") else None


def _backoff(tries: int) -> float:
    """Double each time, with a quarter of chance, so that many clients do not come back at once."""
    return min(FIRST_WAIT_S * 2.0 ** (tries - 1), LONGEST_WAIT_S) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
