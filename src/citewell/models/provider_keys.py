"""Which key goes to which endpoint of a language model."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from citewell.errors import ServiceRefused
from citewell.models.endpoint import key_in

KEY_VARIABLE = "CITEWELL_LLM_API_KEY"
"""Whose key is for whatever endpoint the settings name."""


@dataclass(frozen=True, slots=True)
class KeysOf:
    """A provider's own address, and the variable of the environment whose key is for that address alone."""

    url: str
    variable: str

    def is_at(self, url: str) -> bool:
        """Whether `url` is the provider's own host ("" is)."""
        return not url or urlsplit(url).hostname == urlsplit(self.url).hostname

    def variables(self, url: str) -> tuple[str, ...]:
        """Those that may hold a key for `url`: a settings file with a foreign one cannot carry off the provider's."""
        return (KEY_VARIABLE, self.variable) if self.is_at(url) else (KEY_VARIABLE,)

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
                remedy=f"Set {names} in the environment, or llm_url to another server.",
            )
        return key
