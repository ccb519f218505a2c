"""Who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from citewell.types import Principal


class Scope(StrEnum):
    """What a caller may do. Each contains the one before."""

    READ = "read"
    """Search, ask, and conversations of one's own."""
    WRITE = "write"
    """Upload, delete and re-tag, too."""
    ADMIN = "admin"
    """All of it, for whoever runs the service: jobs of others, evaluations, metrics, why something failed."""

    @property
    def contained(self) -> frozenset[Scope]:
        """It and what it contains."""
        order = list(Scope)
        return frozenset(order[: order.index(self) + 1])


@dataclass(frozen=True, slots=True)
class Caller:
    """One who has shown who they are. `name` says it for good: what somebody uploaded or asked belongs to it.

    `key_id` is the API key that was shown, "" where it was none.
    """

    name: str
    principal: Principal
    scopes: frozenset[Scope]
    key_id: str = ""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes

    @property
    def is_admin(self) -> bool:
        return Scope.ADMIN in self.scopes
