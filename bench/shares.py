"""How many of how many, with Wilson's 95 % interval (Wilson 1927)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Z = 1.959964


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many, and the interval."""

    name: str
    count: int
    of: int
    low: float
    high: float

    @classmethod
    def of_all(cls, name: str, outcomes: Iterable[bool]) -> Share:
        each = list(outcomes)
        return cls(name, sum(each), len(each), *wilson(sum(each), len(each)))

    def __str__(self) -> str:
        return f"{self.count:,} of {self.of:,}: {self.count / self.of:.1%} ({self.low:.1%} to {self.high:.1%})"


def wilson(count: int, n: int) -> tuple[float, float]:
    """The interval of a share."""
    centre, spread = count + Z * Z / 2, Z * math.sqrt(count * (n - count) / n + Z * Z / 4)
    return max((centre - spread) / (n + Z * Z), 0.0), min((centre + spread) / (n + Z * Z), 1.0)
