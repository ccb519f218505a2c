"""A question to what is found for it: the queries that it becomes, each searched, and their lists joined.

    rewrite - route - decompose - variants, hypothetical passage, broader question - search - second hop - join

Each step but the search is a switch of `[queries]`; docs/queries.md says what each gains. The question itself is always
searched too. Where questions are routed, that one is taken apart and searched on with which needs many steps, whatever
the switches of these two; and small talk is marked, so that it need not be answered from documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from citewell.models.embedder import Embedder
from citewell.models.llm import LLM
from citewell.queries.broader import broader
from citewell.queries.decomposition import parts, parts_by
from citewell.queries.hypothetical import hypothetical
from citewell.queries.joining import joined
from citewell.queries.rewrite import rewritten
from citewell.queries.rewriting.own_words import own_words, subject_words
from citewell.queries.rewriting.words import is_english
from citewell.queries.routing import Way, route, route_by
from citewell.queries.second_hop import onward
from citewell.queries.small_talk import is_small_talk
from citewell.queries.variants import variants
from citewell.retrieval.fusion import reciprocal_rank_fusion
from citewell.retrieval.query import Query, Role
from citewell.settings import Queries
from citewell.types import Hit, Trace, Turn

RRF_K = 60
"""Of the lists of queries that ask the same; those of one question agree in much, so that a small k would only repeat
the first list."""

Search = Callable[[Query], tuple[Hit, ...]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that stands alone, the queries that ask it, and those that ask for its parts.

    `subjects` are the words, as it was put, that name a subject, in small letters; none where it is not in English,
    whose words alone are known. Of one that asks of another subject what was asked before, `own` are those that name
    it: what answers only the question before has none of them. It `follows` where it is the question before and a
    follow-up. `hops` is whether the names in what is found are searched for next. Of small talk the text as it was put
    is the one query: who searches is not turned away.
    """

    question: str
    same: tuple[Query, ...]
    parts: tuple[Query, ...]
    own: str = ""
    follows: bool = False
    subjects: frozenset[str] = frozenset()
    hops: bool = False
    small_talk: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, and every query that was searched, the question as it was put first."""

    hits: tuple[Hit, ...]
    queries: tuple[Query, ...]


def understand(
    question: str,
    turns: Sequence[Turn],
    settings: Queries,
    today: date,
    *,
    llm: LLM | None,
    embedder: Embedder,
    trace: Trace,
) -> Asked:
    """What to search for, where these turns were before.

    Raises:
        SettingsError: `route` is "trained", for another embedder than this one.
        ServiceError: a model's endpoint failed.
    """
    with trace.step("queries", 1) as step:
        if settings.route != "off":
            turns = [turn for turn in turns if not is_small_talk(turn.question)]
            if is_small_talk(question, turns):
                step.out = 1
                return Asked(question, (Query(question),), (), small_talk=True)
        asked = rewritten(question, turns if settings.rewrite else (), llm)
        alone = asked[-1].text
        follows = alone != question and alone.endswith(question)
        way = _way(alone, settings, embedder)
        # Taken apart, a follow-up would be asked for together with the question before, and that once more.
        parts = _parts(question if follows else alone, settings, way, llm, today)
        own = tuple(replace(query, keyword_only=way is Way.KEYWORD) for query in asked)
        same = (*own, *_written(alone, settings, llm))
        step.out = len(same) + len(parts)
    hops = settings.second_hop or way is Way.MANY
    added = own_words(question, alone, turns[-1].question) if turns else []
    subjects = frozenset(subject_words(question)) if is_english(alone) else frozenset[str]()
    return Asked(alone, same, parts, " ".join(added), follows, subjects, hops)


def find(asked: Asked, search: Search, k: int) -> Found:
    """The best k of all that is found, ranked anew: those for the question and each part in turn, each once."""
    lists = [_one_list(asked.same, search), *(search(query) for query in asked.parts)]
    first = [found[0].passage.text for found in lists[bool(asked.parts) :] if found]
    further = onward(asked.question, first) if asked.hops else ()
    found = joined([*lists, *(search(query) for query in further)], lambda hit: hit.passage.id)
    hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(found[:k], start=1))
    return Found(hits, (*asked.same, *asked.parts, *further))


def _way(question: str, settings: Queries, embedder: Embedder) -> Way:
    if settings.route == "trained":
        return route_by(embedder, question)
    return route(question) if settings.route == "rules" else Way.ONE


def _parts(question: str, settings: Queries, way: Way, llm: LLM | None, today: date) -> tuple[Query, ...]:
    # The classifier spares a model's calls; the rules, which cost none, split what it did not know.
    spared = settings.route == "trained" and way is not Way.MANY
    if settings.decompose == "llm" and llm is not None and not spared:
        return parts_by(llm, question, today)
    return parts(question, today) if settings.decompose != "off" or way is Way.MANY else ()


def _written(question: str, settings: Queries, llm: LLM | None) -> Iterator[Query]:
    """What a model writes to be searched beside the question."""
    if llm is None:
        return
    if settings.variants:
        yield from variants(llm, question, settings.variants)
    if settings.hyde:
        yield from hypothetical(llm, question)
    if settings.step_back:
        yield from broader(llm, question)


def _one_list(same: Sequence[Query], search: Search) -> tuple[Hit, ...]:
    """What is found for queries that ask the same.

    A question and its rewrite in turn, the rewrite first: fusion would put first what the words find that lean. Beside
    other wordings by reciprocal rank fusion (RAG-Fusion: Rackauckas 2024, arXiv:2402.03367).
    """
    asked = [query for query in same if query.role in (Role.REWRITE, Role.ORIGINAL)]
    own = joined([search(query) for query in reversed(asked)], lambda hit: hit.passage.id)
    lists = [own, *(search(query) for query in same if query not in asked)]
    if len(lists) == 1:
        return own
    hits = {hit.passage.id: hit for found in reversed(lists) for hit in found}
    names = {str(number): [hit.passage.id for hit in found] for number, found in enumerate(lists)}
    return tuple(hits[item.id] for item in reciprocal_rank_fusion(names, RRF_K))
