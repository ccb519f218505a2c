"""Tokens of an OpenID Connect issuer: a JWT that it signed for us, and the groups that it says.

The keys come from the issuer's JWKS, kept for a while. A key that is not among them is asked for anew, and not more
often than every half minute: anybody can make up the name of a key.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx2
import jwt

from citewell.errors import ServiceUnreachable
from citewell.serving.caller import Caller, Scope
from citewell.serving.problems import Unauthenticated
from citewell.settings import Service
from citewell.types import Principal

# Of two keys only, so that our audience cannot be the secret; and never "none".
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEPT_S = 300.0
AGAIN_S = 30.0
FAILED_S = 15.0
TRUSTED_S = 3_600.0
TIMEOUT_S = 3.0
LEEWAY_S = 30
MAX_BYTES = 1_000_000
MAX_TOKEN = 16_000
MAX_GROUPS = 2_000
MAX_NAME = 200
SCOPES = {"citewell:write": Scope.WRITE, "citewell:admin": Scope.ADMIN}
"""What `scope` or `scp` of a token must hold to do more than read."""


class KeySet:
    """The issuer's keys by their id. Several threads may ask."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read_at = -TRUSTED_S
        self._not_before = 0.0
        self._reading = threading.Lock()

    def key(self, key_id: str) -> jwt.PyJWK:
        """Raises:
        Unauthenticated: the issuer has no such key.
        ServiceUnreachable: its keys cannot be read.
        """
        with self._reading:
            age = time.monotonic() - self._read_at
            is_due = age > KEPT_S or (key_id not in self._keys and age > AGAIN_S)
            if is_due and time.monotonic() >= self._not_before:
                self._refresh()
            elif is_due and key_id not in self._keys:
                raise self._unreachable("it could not be reached a moment ago")
            found = self._keys.get(key_id)
        if found is None:
            raise refused()
        return found

    def _refresh(self) -> None:
        try:
            self._keys, self._read_at = self._read(), time.monotonic()
        except ServiceUnreachable:
            # Nobody waits for it again soon; for a while, the keys that it had are still trusted.
            self._not_before = time.monotonic() + FAILED_S
            if not self._keys or time.monotonic() - self._read_at > TRUSTED_S:
                self._keys = {}
                raise

    def _read(self) -> dict[str, jwt.PyJWK]:
        try:
            listed = _json(self._service.oidc_jwks_url or self._found())["keys"]
            return {key["kid"]: made for key in listed if (made := _usable(key)) is not None}
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            raise self._unreachable(type(error).__name__) from None

    def _unreachable(self, why: str) -> ServiceUnreachable:
        return ServiceUnreachable(
            f"The keys of {self._service.oidc_issuer} cannot be read: {why}.",
            remedy="Check `oidc_issuer` and `oidc_jwks_url` of [service], and that the issuer is up.",
        )

    def _found(self) -> str:
        return str(_json(self._service.oidc_issuer.rstrip("/") + "/.well-known/openid-configuration")["jwks_uri"])


def _usable(key: object) -> jwt.PyJWK | None:
    """None for a key that signs nothing for us: an issuer may have those of kinds that we do not know, too."""
    if not isinstance(key, dict) or not isinstance(key.get("kid"), str) or key.get("use", "sig") != "sig":
        return None
    try:
        return jwt.PyJWK(key)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _json(url: str) -> dict[str, Any]:
    with httpx2.stream("GET", url, timeout=TIMEOUT_S) as answer:
        answer.raise_for_status()
        data = bytearray()
        for piece in answer.iter_bytes():
            data += piece
            if len(data) > MAX_BYTES:
                raise ValueError("too long")
    found = httpx2.Response(200, content=bytes(data)).json()
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found


class Tokens:
    """The tokens of the issuer that the settings name."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._keys = KeySet(service)

    def caller(self, token: str) -> Caller:
        """Who the issuer says it is.

        Raises:
            Unauthenticated: it is no token of this issuer for us that holds now.
            ServiceUnreachable: the issuer's keys cannot be read.
        """
        if len(token) > MAX_TOKEN:
            raise refused()
        try:
            head = jwt.get_unverified_header(token)
            if head.get("alg") not in ALGORITHMS:
                raise refused()
            key = self._keys.key(str(head.get("kid", "")))
            claims = jwt.decode(
                token,
                key.key,
                algorithms=list(ALGORITHMS),
                audience=self._service.oidc_audience,
                issuer=self._service.oidc_issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            raise refused() from None
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_NAME or not subject.isprintable():
            raise refused()
        name = f"oidc:{subject}"
        groups = frozenset(_texts(claims.get(self._service.oidc_groups_claim)))
        return Caller(name, Principal(name, groups), _scopes(claims))


def refused() -> Unauthenticated:
    """Why, is not told: it would help to guess."""
    return Unauthenticated("The key or token does not hold.", remedy="Send `Authorization: Bearer` and another.")


def _scopes(claims: dict[str, Any]) -> frozenset[Scope]:
    said = {word for claim in ("scope", "scp") for text in _texts(claims.get(claim)) for word in text.split()}
    granted = Scope.READ.contained
    for word in said & SCOPES.keys():
        granted |= SCOPES[word].contained
    return granted


def _texts(claim: object) -> list[str]:
    """A claim that is a text or a list of texts; what else is in it does not count."""
    listed = claim if isinstance(claim, list) else [claim]
    texts = [text for text in listed[:MAX_GROUPS] if isinstance(text, str) and text.isprintable()]
    return [text for text in texts if 0 < len(text) <= MAX_NAME]
