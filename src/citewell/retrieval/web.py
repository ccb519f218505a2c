"""A search of the web, over the JSON API of a SearXNG that the settings name (docs.searxng.org, "Search API").

The question leaves the machine: off unless the settings allow it, see docs/security.md. What comes back are the
engine's extracts. No page is fetched, nothing is stored, and nobody here has approved a word of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, ValidationError

from citewell.errors import ServiceError, ServiceRefused, ServiceUnreachable, SettingsError
from citewell.models.deadline import Deadline
from citewell.models.endpoint import checked, is_loopback
from citewell.security.scan import scan
from citewell.settings import Security
from citewell.signs import UNSEEN
from citewell.types import BETWEEN_SOURCES, EVERYONE, OF_WEB, Chunk, ElementKind, Rights, Trust

if TYPE_CHECKING:
    from httpx2 import Response

SETTING = "security.web_url"
STEP = "web"
"""Of the trace; there wherever the web was asked."""

TIMEOUT_S = 10.0
"""For the whole reply: a reader waits, and there are passages to answer from without it."""
MAX_BYTES = 2_000_000
MOST = 5
"""Results that are taken; an engine gives about twenty."""
MOST_READ = 50
"""And that are looked at: each is scanned, and a reply may have thousands."""
MAX_CHARS, MAX_TITLE_CHARS, MAX_URL_CHARS = 1_000, 150, 2_000

# What SearXNG reads as a command: an engine (!), a site to be sent on to (!!), a language (:), a time limit (<).
_COMMAND = re.compile(r"(?<!\S)[!:<?]+(?=\S)")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
# All that ASCII shows but what ends an address in a text or in Markdown; a % stays, as addresses come encoded.
_KEPT = "!#$%&'*+,-./:;=?@_~"


class _Result(BaseModel):
    url: str
    title: str = ""
    content: str


class _Reply(BaseModel):
    results: list[object]


class WebSearch:
    """Asks the SearXNG whose search is at `url`. Safe to share between threads.

    Raises:
        SettingsError: `url` is none, holds a password, or is an open connection to another machine.
    """

    def __init__(self, url: str) -> None:
        self._url = checked(url, SETTING)
        self._is_here = is_loopback(self._url.hostname or "")
        if self._url.scheme != "https" and not self._is_here:
            raise SettingsError(
                f"Questions would be sent to {self._url.hostname} over an open connection.",
                remedy=f'Give {SETTING} with "https:".',
            )

    def search(self, question: str) -> tuple[Chunk, ...]:
        """What the engine says of the first pages that it finds, a passage each, best first.

        A result that speaks to a language model is left out, as is one without a text or a plain address. The words of
        an error name no host: whoever asks may read them.

        Raises:
            ServiceError: no connection, no answer in time, a refusal, or a reply that cannot be read.
        """
        try:
            # Not pydantic's reading: it gives up on half a surrogate pair, which is one page's fault.
            results = _Reply.model_validate(json.loads(self._asked(question))).results
        except (ValueError, RecursionError):
            raise ServiceUnreachable(
                "The search engine's reply holds no results.", remedy=f"{SETTING} usually ends in /search."
            ) from None
        found: dict[str, Chunk] = {}
        for passage in _passages(results[:MOST_READ]):
            found.setdefault(passage.id, passage)
            if len(found) == MOST:
                break
        return tuple(found.values())

    def _asked(self, question: str) -> bytes:
        from httpx2 import Client, HTTPError, InvalidURL, TimeoutException

        # In the body, as the addresses of requests are written into logs.
        form = urlencode({"q": _COMMAND.sub("", question), "format": "json"}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        # One for each question: no cookie joins those of two askers. What goes to this machine must not take the way
        # through a proxy that the environment names.
        client = Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=not self._is_here)
        url = self._url.geturl()
        with client, Deadline(TIMEOUT_S) as deadline:
            kept = deadline.extensions
            try:
                with client.stream("POST", url, content=form, headers=headers, extensions=kept) as response:
                    if not response.is_success:
                        raise _refusal(response.status_code)
                    body = _body(response)
            except (HTTPError, InvalidURL) as error:
                # Not chained: its text may show the whole URL.
                if not (deadline.is_over or isinstance(error, TimeoutException)):
                    raise ServiceUnreachable(
                        f"There is no connection to the search engine ({type(error).__name__}).",
                        remedy=f"Check {SETTING}, and that it runs.",
                    ) from None
                raise _slow() from None
        if deadline.is_over:  # the end of what says no length is the end of the connection
            raise _slow()
        return body


def web_search(settings: Security) -> WebSearch | None:
    """The engine that the settings name, where they allow it too; else None.

    Raises:
        SettingsError: as `WebSearch`.
    """
    return WebSearch(settings.web_url) if settings.web == "allow" else None


def _slow() -> ServiceError:
    return ServiceUnreachable(f"The search engine gave no answer in {TIMEOUT_S:g} s.", remedy="Try again later.")


def _refusal(status: int) -> ServiceError:
    said = f"The search engine answered {status}"
    if 300 <= status < 400:
        return ServiceRefused(f"{said}: it sends us elsewhere.", remedy=f"Give {SETTING} as it is in the end.")
    if status == 403:
        return ServiceRefused(f"{said}: it gives no JSON.", remedy="Add json to search.formats in its settings.yml.")
    return ServiceRefused(f"{said}.", remedy=f"Try again later, or check {SETTING}.")


def _body(response: Response) -> bytes:
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > MAX_BYTES:
            raise ServiceUnreachable(
                f"The search engine's reply has more than {MAX_BYTES // 1_000_000} MB.", remedy=f"Check {SETTING}."
            )
    return bytes(body)


def _passages(results: list[object]) -> Iterator[Chunk]:
    for each in results:
        try:
            result = _Result.model_validate(each)
        except ValidationError:
            continue  # a picture, a file, an answer: an engine has results of many forms
        address = _address(result.url)
        title, text = _line(result.title, MAX_TITLE_CHARS), _line(result.content, MAX_CHARS)
        if address and text and not scan(text) and not scan(title):
            yield _passage(address, title, text)


def _passage(address: str, title: str, text: str) -> Chunk:
    host = urlsplit(address).hostname
    number = hashlib.sha256(address.encode()).hexdigest()[:16]
    return Chunk(
        id=f"{OF_WEB}{number}:0",
        document_id=f"{OF_WEB}{number}",
        title=f"{title or host} (web: {host})",
        source=address,
        version="",
        text=text,
        start=0,
        end=len(text),
        heading_path=(),
        pages=(),
        kind=ElementKind.PARAGRAPH,
        rights=Rights(frozenset({EVERYONE})),
        trust=Trust.UNTRUSTED,
    )


def _line(text: str, most: int) -> str:
    return " ".join(UNSEEN.sub("", text).split())[:most].rstrip()


def _address(url: str) -> str:
    """A plain address of the web, safe to show and to open; "" where it is none.

    None that holds a user: what stands before an @ is read as the host. None of a host in other letters, which look
    like ours.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not _HOST.fullmatch(parts.hostname or ""):
        return ""
    # Between a file and one in it nothing else may stand (`types.BETWEEN_SOURCES`).
    address = quote(parts.geturl(), safe=_KEPT, errors="replace").replace(BETWEEN_SOURCES, "%21/")
    return address if len(address) <= MAX_URL_CHARS else ""
