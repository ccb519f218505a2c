"""How figures are written, alike in every form of the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

HEADLINES = (
    "correct",
    "recall@5",
    "nDCG@10",
    "faithfulness",
    "citation precision",
    "refusal precision",
    "refusal recall",
    "seconds",
)
"""The measures that stand first, where they were taken."""

NONE = "–"


def figure(value: float | None, measure: str = "") -> str:
    """A measure's value as it is read: a share to three places, a time with its unit, a count whole."""
    if value is None:
        return NONE
    match measure:
        case "seconds":
            return f"{value:.3f} s"
        case "tokens":
            return f"{value:,.0f}"
        case "cost_usd":
            return f"${value:.4f}"
    return f"{value:.3f}"


def signed(value: float) -> str:
    """A difference to three places, `+0.068` or `−0.068`; `0.000` for one that is less than can be read."""
    shown = f"{value:+.3f}"
    return "0.000" if float(shown) == 0 else shown.replace("-", "−")


def floor(of: Mapping[str, Any]) -> str:
    """The least evidence asked for and where it comes from: `0.33, calibrated`."""
    return of["origin"] if of["least"] is None else f"{of['least']:.2f}, {of['origin']}"


def setting(value: object) -> str:
    """A setting as it stands in its file, nearly: `"off"`, `5`, `["dense", "keyword"]`."""
    return json.dumps(value, ensure_ascii=False)


def counted(number: int, singular: str) -> str:
    """`1 question`, `2 questions`, `12,000 questions`."""
    return f"{number:,} {singular}" if number == 1 else f"{number:,} {singular}s"
