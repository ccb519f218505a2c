"""What these frameworks are told of a passage beside its text."""

from __future__ import annotations

from typing import Any

from citewell.generation.citations import link
from citewell.shapes import hit_shape
from citewell.types import Hit


def metadata(hit: Hit) -> dict[str, Any]:
    """In the keys of docs/json.md, without the text; `link` opens the page that it begins on, and `trust` says how far
    it may be relied on.
    """
    shape = hit_shape(hit)
    told = ("chunk", "document", "title", "source", "section", "page", "page_number", "start", "end", "score", "scale")
    place = link(hit.chunk.source, shape["page_number"], hit.chunk.text)
    return {**{key: shape[key] for key in told}, "link": place, "trust": hit.chunk.trust.value}
