"""Untrusted passages without what seems to be planted in them, before a language model reads them."""

from __future__ import annotations

from dataclasses import replace

from citewell.generation.compression import Shown
from citewell.generation.extractive import units_to_quote
from citewell.generation.prompt import fitting
from citewell.generation.strips import excerpt
from citewell.generation.units import units
from citewell.security.planted import NAME_CHARS, unplanted
from citewell.settings import Settings
from citewell.types import Chunk


def without_planted(shown: Shown, settings: Settings) -> Shown:
    """Of the passages that a prompt has room for, what the extractive answer might quote too.

    One of which nothing is left is left out. The filter is no proof, see docs/injection.md.
    """
    strips, hits = dict(shown.strips), []
    for hit in fitting(shown.hits, settings):
        passage = hit.passage
        every, quotable = units(passage), set(units_to_quote(passage))
        kept = tuple(unit for unit in strips.get(passage.id, every) if unit in quotable)
        if not kept:
            continue
        if len(kept) < len(every):
            strips[passage.id] = kept
        hits.append(hit)
    return replace(shown, hits=tuple(hits), strips=strips)


def in_full(passage: Chunk, settings: Settings) -> str:
    """A passage with what stands above it, without what seems to be planted in either where the settings say so."""
    above = (passage.title[:NAME_CHARS], passage.section[:NAME_CHARS], passage.preamble)
    if settings.security.untrusted != "cut":
        return "\n".join(filter(None, (*above, passage.text)))
    kept, every = units_to_quote(passage), units(passage)
    text = passage.text if len(kept) == len(every) else excerpt(passage, kept)
    return "\n".join(filter(None, (*(unplanted(each, passage.trust) for each in above), text)))
