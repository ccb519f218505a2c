"""The first stage: each leg ranks what is in scope on its own, all at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from citewell.models.embedder import Vectors
from citewell.models.encoding import Encoders
from citewell.retrieval.analyser import analyse_query
from citewell.retrieval.floor import named_codes
from citewell.stores.store import Match, Reader, Scope
from citewell.types import Scale, Trace

CODE = "code"
"""The list of what holds a code that the query names: to the vectors R-17 and R-71 are one thing, and where few words
are asked the keyword leg alone cannot outweigh them."""

SCALES = {"dense": Scale.COSINE, "keyword": Scale.BM25, "sparse": Scale.DOT_PRODUCT}

Legs = dict[str, list[Match]]


def first_stage(
    query: str,
    vector: Vectors,
    names: Sequence[str],
    candidates: int,
    *,
    scope: Scope,
    store: Reader,
    encoders: Encoders,
    trace: Trace,
) -> Legs:
    """The best `candidates` of each leg named, and where a code is asked for by meaning and by words those that hold
    it. `vector` is the query's. A leg takes no time from another: each has a thread, and its line in the trace."""
    codes = named_codes(query)
    ways: dict[str, Callable[[], list[Match]]] = {
        "dense": lambda: store.dense(vector, candidates, scope),
        "keyword": lambda: store.keyword(analyse_query(query), candidates, scope),
        "sparse": lambda: _by_sparse(query, candidates, scope, store, encoders),
        CODE: lambda: store.keyword(sorted(codes), candidates, scope),
    }
    legs = list(dict.fromkeys(names))
    legs += [CODE] if codes and {"dense", "keyword"} <= set(legs) else []

    def timed(leg: str) -> tuple[Trace, list[Match]]:
        own = Trace()
        with own.step(leg, 1) as step:
            found = ways[leg]()
            step.out = len(found)
        return own, found

    if len(legs) == 1:
        made = [timed(legs[0])]
    else:
        with ThreadPoolExecutor(len(legs)) as pool:
            made = list(pool.map(timed, legs))
    for own, _ in made:
        trace.add(*own.steps)
    return {leg: found for leg, (_, found) in zip(legs, made, strict=True)}


def _by_sparse(query: str, candidates: int, scope: Scope, store: Reader, encoders: Encoders) -> list[Match]:
    """Nothing where no encoder is named: then the store has no sparse vectors either, or was refused before."""
    return [] if encoders.sparse is None else store.sparse(encoders.sparse.encode_query(query), candidates, scope)
