"""Secrets: from a file of their own, never from the settings. They are not logged, stored or shown.

CITEWELL_SECRETS=/etc/citewell/secrets.toml

document_passwords = ["...", "..."]     # tried on encrypted files
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from citewell.errors import SettingsError
from citewell.settings import read_toml

VARIABLE = "CITEWELL_SECRETS"


class Credentials(BaseModel):
    """What the secrets file may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document_passwords: Annotated[tuple[SecretStr, ...], Field(max_length=100)] = ()
    _edition: str = ""

    @classmethod
    def load(cls) -> Credentials:
        """Read the file that the environment names; nothing where it names none.

        Raises:
            SettingsError: it is missing, wrong, or other users may read it.
        """
        name = os.environ.get(VARIABLE)
        if not name:
            return cls()
        path = Path(name)
        data = read_toml(path)
        if sys.platform != "win32" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingsError(f"{path} may be read by other users.", remedy=f"Close it with `chmod 600 {path}`.")
        try:
            found = cls.model_validate(data)
        except ValidationError as error:
            # Only where and what kind: the message of pydantic shows the value.
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            where = ", ".join(".".join(map(str, problem["loc"])) for problem in problems)
            raise SettingsError(
                f"{path}: wrong or unknown: {where}.", remedy="It may hold document_passwords, a list of texts."
            ) from None
        status = path.stat()
        found._edition = f"{status.st_mtime_ns}/{status.st_size}"
        return found

    @property
    def edition(self) -> str:
        """Another text after each change of the file, without anything of what is in it."""
        return self._edition

    @property
    def passwords(self) -> tuple[str, ...]:
        return tuple(secret.get_secret_value() for secret in self.document_passwords)


NO_CREDENTIALS = Credentials()
