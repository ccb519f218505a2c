"""Which key goes to which endpoint of a provider."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from citewell.errors import ServiceRefused
from citewell.models.endpoint import key_in

LLM_URL = "models.llm_url"
LLM_KEY_VARIABLE = "CITEWELL_LLM_API_KEY"
NOT_SENT = "none"
"""Given to a provider's library in the place of a key: without one, it would look for its own in the environment."""

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class KeysOf:
    """A provider's own address, and the variable of the environment whose key is for that address alone.

    The key in `any_variable` is for whatever URL the setting `setting` gives.
    """

    url: str
    variable: str
    setting: str = LLM_URL
    any_variable: str = LLM_KEY_VARIABLE

    def is_at(self, url: str) -> bool:
        """Whether `url` is the provider's own: its scheme, host and port ("" is)."""
        return not url or _origin(url) == _origin(self.url)

    def variables(self, url: str) -> tuple[str, ...]:
        """Those that may hold a key for `url`: a settings file with a foreign one cannot carry off the provider's."""
        return (self.any_variable, self.variable) if self.is_at(url) else (self.any_variable,)

    def key(self, url: str) -> str:
        """The key for `url`; "" for a server of one's own that none is set for.

        Raises:
            ServiceRefused: there is none, and the provider needs one.
            SettingsError: what is set is no key.
        """
        key = key_in(*self.variables(url))
        if not key and self.is_at(url):
            names = " or ".join(self.variables(url))
            raise ServiceRefused(
                f"There is no key for {self.url}.",
                remedy=f"Set {names} in the environment, or {self.setting} to another server.",
            )
        return key


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
