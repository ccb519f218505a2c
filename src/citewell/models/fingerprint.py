"""Whether two embedders make the same vectors: told by the vectors of fixed texts, never by a name."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence

import numpy as np

from citewell.errors import FingerprintMismatch
from citewell.models.embedder import Embedder, ModelIdentity

# Short, so that the check costs milliseconds, and so that a prefix of two tokens weighs as much as the text: before a
# long sentence it would not show. The same for questions and passages: each has a prefix of its own.
TEXTS = (
    "The invoice of 14 March is due within thirty days.",
    "Naïve Bayes; déjà vu; 東京 (R-17).",
    "March",
    "R-17",
)
# docs/models.md has the cosines that this lies between: those of one model on other processors and in other number
# formats above it, those of other models, poolings and prefixes below.
SAME_SPACE = 0.98


def canaries(embedder: Embedder) -> tuple[tuple[float, ...], ...]:
    """Vectors of the fixed texts as passages and as queries, to be recorded: shape (2 * len(TEXTS), dimensions)."""
    vectors = np.concatenate([embedder.embed_passages(TEXTS), embedder.embed_queries(TEXTS)])
    return tuple(tuple(round(float(value), 6) for value in row) for row in vectors)


def require_same_space(embedder: Embedder, recorded: Sequence[Sequence[float]], maker: ModelIdentity) -> None:
    """Check an embedder against the canaries that an index recorded.

    Raises:
        FingerprintMismatch: the widths differ, or the cosine of some canary is below `SAME_SPACE`.
    """
    mine, theirs = np.array(canaries(embedder)), np.array(recorded)
    if mine.shape == theirs.shape and float((mine * theirs).sum(axis=1).min()) >= SAME_SPACE:
        return
    now = embedder.identity
    raise FingerprintMismatch(
        f"The index was made with {_described(maker)}; {_described(now)} makes other vectors, so its results would be "
        "meaningless.",
        remedy=f"Set {', '.join(_settings(maker, now))} under [models], or move the index to the new model with "
        f"`citewell migrate --embedder {shlex.quote(now.name)}`.",
    )


def _described(model: ModelIdentity) -> str:
    """A model, with all that makes its vectors differ from those of one of the same name."""
    said = {
        "revision": model.revision,
        "pooling": model.pooling,
        "query prefix": json.dumps(model.query_prefix, ensure_ascii=False) if model.query_prefix else "",
        "passage prefix": json.dumps(model.passage_prefix, ensure_ascii=False) if model.passage_prefix else "",
    }
    details = [f"{what} {value}" for what, value in said.items() if value]
    return f"{model.name} ({', '.join([f'{model.dimensions} dimensions', *details])})"


def _settings(wanted: ModelIdentity, now: ModelIdentity) -> Iterator[str]:
    """The settings that name the wanted model: the embedder, and what else is other than now, as TOML."""
    yield f"embedder = {json.dumps(wanted.name)}"
    for key in ("pooling", "query_prefix", "passage_prefix", "dimensions"):
        value = getattr(wanted, key)
        if value != getattr(now, key) and (value or key.endswith("prefix")):
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
