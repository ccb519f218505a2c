"""From a request to its caller: an API key, a token of an issuer, or this machine alone."""

from __future__ import annotations

import re
from typing import Protocol

from starlette.datastructures import Headers

from citewell.models.endpoint import is_loopback
from citewell.serving.caller import Caller, Scope
from citewell.serving.keys import PREFIX, Keys
from citewell.serving.problems import Forbidden, Unauthenticated
from citewell.serving.tokens import Tokens, refused
from citewell.settings import Settings
from citewell.types import Principal

_HOST = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
"""Of a `Host` header: a name or an address, and perhaps a port. Nothing else that a client may take for one."""


class Identity(Protocol):
    """How a service knows who asks."""

    def caller(self, headers: Headers, peer: str) -> Caller:
        """`peer` is the address that the connection comes from. May wait for an issuer.

        Raises:
            Unauthenticated: nobody that is known.
            Forbidden: it comes from elsewhere.
        """
        ...


class Shown:
    """By what `Authorization: Bearer` shows."""

    def __init__(self, keys: Keys, settings: Settings) -> None:
        self._keys = keys
        self._tokens = Tokens(settings.service) if settings.service.oidc_issuer else None

    def caller(self, headers: Headers, peer: str) -> Caller:  # noqa: ARG002 - the protocol's
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        shown = shown.strip()
        if scheme.lower() != "bearer" or not shown:
            raise Unauthenticated("There is no key.", remedy="Send `Authorization: Bearer` and a key or a token.")
        if shown.startswith(PREFIX):
            key = self._keys.find(shown)
            if key is None:
                raise refused()
            return key.caller
        if self._tokens is None:
            raise refused()
        return self._tokens.caller(shown)


class Loopback:
    """Whoever is on this machine, as the settings' own principal, and may do everything.

    A page of any other site in a browser of this machine reaches us too: its requests name that site as their origin,
    or (where it has its name point at us) as the host, or the browser says that they are of another site. All are sent
    away.
    """

    def __init__(self, settings: Settings) -> None:
        self._origins = frozenset(settings.service.cors_origins)
        principal = Principal("local", frozenset(settings.security.as_groups))
        self._caller = Caller("local", principal, Scope.ADMIN.contained)

    def caller(self, headers: Headers, peer: str) -> Caller:
        if is_loopback(peer) and is_loopback(_host_of(headers.get("host", ""))) and self._is_own(headers):
            return self._caller
        raise Forbidden(
            "This service is for this machine alone.", remedy="Start it with keys to use it from elsewhere."
        )

    def _is_own(self, headers: Headers) -> bool:
        """Whether no page has sent it, or one of ours or of `cors_origins`."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin in self._origins:
            return True
        own = origin in (None, f"http://{host}", f"https://{host}")
        return own and headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def _host_of(header: str) -> str:
    """As the name or address alone; nothing where it is neither."""
    found = _HOST.fullmatch(header)
    return found[1].strip("[]").lower() if found else ""
