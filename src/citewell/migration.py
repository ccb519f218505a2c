"""From one embedder to another: the next generation is built beside the index, and one change of the pointer makes it
the index.

| a run ended ...                          | what lies there                          | the next run              |
|------------------------------------------|------------------------------------------|---------------------------|
| while building                           | the index, and a part of the next        | goes on with the part     |
| because the gate refused                 | the index, and the next, whole           | embeds nothing            |
| after the switch, before it tidied up    | the new index, the one before, and older | removes what is older     |
| while bringing the one before up to date | the index, and the one before, partly so | goes on with it           |

Readers see the index as it was until the switch, and whole after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import ValidationError

from citewell.errors import FingerprintMismatch, Refused, SettingsError, UsageError
from citewell.generations import end_erasing, opened, others, tidy
from citewell.journal import OnProgress
from citewell.models import configured
from citewell.models.embedder import SPECIAL_TOKENS, Embedder, ModelIdentity
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries, require_same_space
from citewell.models.token_vectors import codec_for
from citewell.settings import Models
from citewell.stores.home import Home, Pointer
from citewell.stores.store import MadeWith, Reader, Store
from citewell.synchronise import Synchronised, synchronise


@dataclass(frozen=True, slots=True)
class Measure:
    """The mean of a measure over the questions before and after, and of its difference with a 95 % interval."""

    name: str
    before: float
    after: float
    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = f"{self.difference:+.3f}, 95 % interval {self.low:+.3f} to {self.high:+.3f}"
        return f"{self.name} {self.before:.3f} to {self.after:.3f} ({interval})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two generations did on the same questions."""

    questions: int
    measures: tuple[Measure, ...]

    @property
    def worse(self) -> bool:
        """Whether the new one is worse in some measure, beyond the noise."""
        return any(measure.high < 0 for measure in self.measures)


@dataclass(frozen=True, slots=True)
class Searched:
    """A generation and what it is searched with."""

    reader: Reader
    encoders: Encoders


Gate = Callable[[Searched, Searched], Comparison]
"""Compares the index with what is to take its place."""


@dataclass(frozen=True, slots=True)
class Migration:
    """What became of a change of generations. `models` are the settings that name the index's embedder now.

    `carried` is None where the index was made with that embedder already. `sparse` is the identity of its
    sparse encoder, `sparse_before` that of the index before; "" for none.
    """

    generation: int
    previous: int | None
    embedder: ModelIdentity
    models: Models
    carried: Synchronised | None
    comparison: Comparison | None
    seconds: float
    sparse_before: str
    sparse: str

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.carried is None or not self.carried.too_long:
            return ()
        most = self.embedder.max_tokens - SPECIAL_TOKENS
        warning = (
            f"{self.carried.too_long:,} of the {self.carried.embedded:,} texts embedded are longer than the {most:,} "
            f"tokens that {self.embedder.name} reads; what stands at their ends is found by its words only. Set "
            f"chunking.size to {most} or less and index the documents again."
        )
        return (warning,)


def with_embedder(models: Models, name: str) -> Models:
    """The settings with another embedder.

    Raises:
        SettingsError: there is none of that name.
    """
    try:
        return Models.model_validate(models.model_dump() | {"embedder": name})
    except ValidationError:
        raise SettingsError(
            f"There is no embedder {name!r}.",
            remedy=f'Give {Models().embedder}, "onnx:FOLDER" or "openai:MODEL"; docs/models.md describes them.',
        ) from None


def migrate(
    home: Home,
    encoders: Encoders,
    models: Models,
    *,
    token_vectors: bool = True,
    gate: Gate | None = None,
    on_progress: OnProgress | None = None,
) -> Migration:
    """Make a generation of these encoders, which `models` names, the index; the one before is kept, older ones dropped.

    Texts and chunks are the stored ones, as they are. What an earlier call has made of it is gone on with.
    `token_vectors` are kept where the embedder gives some.

    Raises:
        Refused: the gate found the new generation worse; it stays beside the index.
        IndexLocked: another process is writing.
        SettingsError: there is a gate, and the embedder of the index cannot be made.
        FingerprintMismatch: there is a gate, and that embedder is not the one that it was.
        ServiceError: an embedder's endpoint failed.
    """
    begin = time.perf_counter()
    with home.writing():
        end_erasing(home)  # what still holds purged texts must not become the generation that is kept
        pointer = home.pointer()
        current = home.open(pointer.current)
        carried, comparison = None, None
        embedder = encoders.embedder
        codec = codec_for(embedder, keep=token_vectors)
        if not _made_by(encoders, codec, current):
            # Before hours of embedding: can the two be compared at all?
            before = Searched(current.reader(), _asking(current.made_with, models, encoders)) if gate else None
            number, target = _begun(home, pointer, encoders, codec)
            carried = synchronise(current, target, encoders, on_progress)
            if gate and before:
                comparison = gate(before, Searched(target.reader(), encoders))
                _refuse_worse(comparison, before, embedder)
            pointer = _switched(home, pointer, number)
        tidy(home)
    return _finished(begin, pointer, current.made_with, encoders, models, carried, comparison)


def roll_back(home: Home, models: Models, *, on_progress: OnProgress | None = None) -> Migration:
    """Make the generation before the index again, after all that was committed since has been done to it too.

    Its embedder is made from what was recorded of it, and for the rest (URL, threads) as `models` say.

    Raises:
        UsageError: no generation is kept.
        SettingsError: its embedder cannot be made.
        FingerprintMismatch: that embedder is not the one that it was, nor its sparse encoder.
        IndexLocked, ServiceError: as `migrate`.
    """
    begin = time.perf_counter()
    with home.writing():
        end_erasing(home)
        pointer = home.pointer()
        if pointer.previous is None:
            raise UsageError(
                f"{home.location} keeps no generation to go back to.",
                remedy="There is one after `citewell migrate --embedder NAME`.",
            )
        current, target = home.open(pointer.current), home.open(pointer.previous)
        named, encoders = _encoders_of(target.made_with, models)
        carried = synchronise(current, target, encoders, on_progress)
        pointer = _switched(home, pointer, pointer.previous)
        tidy(home)
    return _finished(begin, pointer, current.made_with, encoders, named, carried)


def recorded(made_with: MadeWith, models: Models) -> tuple[Models, Embedder]:
    """The embedder that a store was made with, and the settings that name it: `models`, but for what was recorded.

    Raises:
        SettingsError: it cannot be made; its folder is gone, say.
        FingerprintMismatch: it does not make the vectors that it made.
    """
    identity = made_with.embedder
    given = {
        "dimensions": 0,
        "query_prefix": identity.query_prefix,
        "passage_prefix": identity.passage_prefix,
        "pooling": identity.pooling or models.pooling,
    }
    named = with_embedder(models, identity.name).model_copy(update=given)
    whole = configured.embedder(named)
    if named.embedder != Models().embedder:
        # What is recorded is what it reads beside its prefix; the setting is both.
        most = identity.max_tokens + len(whole.token_spans(identity.passage_prefix))
        named = named.model_copy(update={"embedder_max_tokens": most})
    if whole.identity.dimensions != identity.dimensions:
        named = named.model_copy(update={"dimensions": identity.dimensions})
    embedder = configured.embedder(named)
    require_same_space(embedder, made_with.canaries, identity)
    return named, embedder


def _encoders_of(made_with: MadeWith, models: Models) -> tuple[Models, Encoders]:
    """As `recorded`, with the sparse encoder of the settings where it made that store's vectors."""
    named, embedder = recorded(made_with, models)
    encoders = Encoders(embedder, configured.sparse(models) if made_with.sparse else None)
    encoders.require_same_sparse(made_with.sparse)
    return named, encoders


def _asking(made_with: MadeWith, models: Models, new: Encoders) -> Encoders:
    """What the gate searches the index with: its own embedder, and its sparse leg only where both have the same."""
    same = made_with.sparse == new.sparse_identity
    return Encoders(recorded(made_with, models)[1], new.sparse if same else None)


def _begun(home: Home, pointer: Pointer, encoders: Encoders, codec: str) -> tuple[int, Store]:
    """The generation to be built: the newest that these encoders have begun, or else an empty one."""
    beside = others(home, pointer)
    for number in reversed(beside):
        store = opened(home, number)
        if store is not None and _made_by(encoders, codec, store):
            return number, store
    number = max([*beside, pointer.current, pointer.previous or 0]) + 1
    analyser = home.open(pointer.current).made_with.analyser  # the tokens are the stored ones
    made_with = MadeWith(
        encoders.embedder.identity, canaries(encoders.embedder), analyser, codec, encoders.sparse_identity
    )
    return number, home.build(number, made_with)


def _made_by(encoders: Encoders, codec: str, store: Store) -> bool:
    made_with = store.made_with
    try:
        require_same_space(encoders.embedder, made_with.canaries, made_with.embedder)
        encoders.require_same_sparse(made_with.sparse)
    except FingerprintMismatch:
        return False
    return made_with.token_codec == codec


def _refuse_worse(comparison: Comparison, before: Searched, embedder: Embedder) -> None:
    if not comparison.worse:
        return
    old, new = before.encoders.embedder.identity, embedder.identity
    figures = "; ".join(map(str, comparison.measures))
    raise Refused(
        f"On the {comparison.questions} questions of the test set {new.name} ({new.dimensions} dimensions) finds less "
        f"than {old.name} ({old.dimensions}): {figures}. The index stays as it is.",
        remedy="Try another model. What was built is kept: without --gate the same command switches to it at once.",
    )


def _switched(home: Home, pointer: Pointer, number: int) -> Pointer:
    switched = replace(pointer, current=number, previous=pointer.current)
    home.switch(switched)
    return switched


def _finished(
    begin: float,
    pointer: Pointer,
    before: MadeWith,
    encoders: Encoders,
    models: Models,
    carried: Synchronised | None,
    comparison: Comparison | None = None,
) -> Migration:
    return Migration(
        generation=pointer.current,
        previous=pointer.previous,
        embedder=encoders.embedder.identity,
        models=models,
        carried=carried,
        comparison=comparison,
        seconds=round(time.perf_counter() - begin, 3),
        sparse_before=before.sparse,
        sparse=encoders.sparse_identity,
    )
