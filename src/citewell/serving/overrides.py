"""Settings tried in an evaluation: those of how passages are cut, found and made an answer of, over the service's own.

No others: a model's address, a plugin or a folder of the machine is for whoever can write the settings file. What is
tried never sends a question to the web, whatever the service may: settings decide when a question would go there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.complaints import complaints
from citewell.errors import UsageError
from citewell.settings import Chunking, Generation, Queries, Retrieval, Settings


class Overrides(BaseModel):
    """As in a settings file; what is not named is as the service has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunking: Chunking | None = None
    retrieval: Retrieval | None = None
    queries: Queries | None = None
    generation: Generation | None = None

    def over(self, settings: Settings) -> Settings:
        """Raises:
        UsageError: a value is not allowed beside the others.
        """
        said = self.model_dump(exclude_unset=True, exclude_none=True)
        try:
            tables = {name: _changed(getattr(settings, name), values) for name, values in said.items()}
            here = settings.security.model_copy(update={"web": "deny"})
            changed = settings.model_copy(update={**tables, "security": here})
            Settings(**changed.model_dump())  # what one table needs of another
        except ValidationError as error:
            raise UsageError(f"Settings: {complaints(error.errors())}.", remedy="Correct it.") from None
        return changed


def _changed(table: BaseModel, values: Mapping[str, Any]) -> BaseModel:
    return type(table).model_validate(_merged(table.model_dump(), values))


def _merged(before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    tables = {name: _merged(before[name], value) for name, value in values.items() if isinstance(value, dict)}
    return {**before, **values, **tables}
