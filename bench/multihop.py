"""Questions that need several passages: the share with all of them in the first 8, by way of searching.

    python bench/multihop.py --data DIR --index DIR [--llm MODEL --llm-url URL] [--every N] [--json]

DIR of --data is in BEIR's layout (bench/beir.py). The corpus goes through the real pipeline once, into the index at
--index, which later runs take; what a model wrote is kept beside it. --every N asks every Nth question only: with a
small model on a busy processor, 51 questions take an hour.

    plain       the question alone
    parts       and its parts by the rules, queries/decomposition.py
    onward      and the names that the first passages give, queries/second_hop.py
    llm parts   and its parts by the model
    variants    and three other wordings by the model

Lists are joined in turn (the best of each, then the second of each), as queries/finding.py joins parts and hops, or by
reciprocal rank fusion with its k = 60, as it joins other wordings. `searches` is their mean number a question.
Intervals are bootstrap 95 % over the questions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import machine
from beir import documents, ranking, read_lines, read_qrels

from citewell import Index, clock
from citewell.evaluation.completions import RememberedLLM
from citewell.evaluation.metrics import Estimate, all_found, estimate, recall
from citewell.models.chat import Chat
from citewell.models.llm import LLM
from citewell.models.openai_compatible import OpenAICompatible
from citewell.queries.decomposition import parts, parts_by
from citewell.queries.finding import RRF_K
from citewell.queries.joining import joined
from citewell.queries.second_hop import onward
from citewell.queries.variants import variants
from citewell.retrieval.fusion import reciprocal_rank_fusion
from citewell.retrieval.query import Query
from citewell.types import Hit

K = 8
SEARCHED_CHUNKS = 30
VARIANTS = 3
TIMEOUT_S = 600

Lists = list[list[str]]
Join = Callable[[Lists], Sequence[str]]
Way = Callable[[str], Lists]


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching, and how far it got."""

    way: str
    perfect: Estimate
    recall: Estimate
    searches: float


class Searcher:
    """The ways of searching; each gives the rankings of documents, the question's own first."""

    def __init__(self, index: Index, llm: LLM | None) -> None:
        self._index = index
        self._llm = llm
        self._hits = cache(self._searched)

    def plain(self, question: str) -> Lists:
        return [self._ranked(Query(question))]

    def parts(self, question: str) -> Lists:
        return self.plain(question) + [self._ranked(part) for part in parts(question, clock.today())]

    def onward(self, question: str) -> Lists:
        return self.plain(question) + self._onward(question, ())

    def parts_onward(self, question: str) -> Lists:
        return self.parts(question) + self._onward(question, parts(question, clock.today()))

    def llm_parts(self, question: str) -> Lists:
        return self.plain(question) + [self._ranked(part) for part in self._by_model(question)]

    def llm_parts_onward(self, question: str) -> Lists:
        return self.llm_parts(question) + self._onward(question, self._by_model(question))

    def variants(self, question: str) -> Lists:
        assert self._llm
        made = variants(self._llm, question, VARIANTS)
        return self.plain(question) + [self._ranked(variant) for variant in made]

    def _by_model(self, question: str) -> tuple[Query, ...]:
        assert self._llm
        return parts_by(self._llm, question, clock.today())

    def _onward(self, question: str, made: tuple[Query, ...]) -> Lists:
        first = [self._hits(query)[:1] for query in made or (Query(question),)]
        passages = [hit.passage.text for hits in first for hit in hits]
        return [self._ranked(query) for query in onward(question, passages)]

    def _ranked(self, query: Query) -> list[str]:
        return ranking(self._hits(query))

    def _searched(self, query: Query) -> tuple[Hit, ...]:
        return self._index.search(query.text, k=SEARCHED_CHUNKS, as_of=query.as_of)


def in_turn(lists: Lists) -> Sequence[str]:
    return joined(lists, str)


def by_rank(lists: Lists) -> Sequence[str]:
    return [item.id for item in reciprocal_rank_fusion({str(at): each for at, each in enumerate(lists)}, RRF_K)]


def measure(way: str, search: Way, join: Join, queries: dict[str, str], qrels: dict[str, dict[str, int]]) -> Row:
    perfect, share, searches = [], [], 0
    for query, text in queries.items():
        lists = search(text)
        found = join(lists)
        perfect.append(all_found(found, qrels[query], K))
        share.append(recall(found, qrels[query], K))
        searches += len(lists)
    return Row(way, estimate(perfect), estimate(share), searches / len(queries))


def opened(data: Path, path: Path) -> Index:
    if path.exists():
        return Index.open(path)
    index = Index.create(path)
    index.add_documents(list(documents(data)))
    return index


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--llm", default="")
    parser.add_argument("--llm-url", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = list(read_lines(options.data, "queries.jsonl"))[:: options.every]
    queries = {line["_id"]: line["text"] for line in lines}
    llm = None
    if options.llm:
        model = Chat(OpenAICompatible(options.llm, options.llm_url), timeout_s=TIMEOUT_S)
        llm = RememberedLLM(model, options.llm, options.index.with_suffix(".llm"))
    with opened(options.data, options.index) as index:
        searcher = Searcher(index, llm)
        ways: dict[str, Way] = {
            "parts": searcher.parts,
            "onward": searcher.onward,
            "parts, onward": searcher.parts_onward,
        }
        if llm is not None:
            ways |= {
                "llm parts": searcher.llm_parts,
                "llm parts, onward": searcher.llm_parts_onward,
                "variants": searcher.variants,
            }
        joins: dict[str, Join] = {"in turn": in_turn, "by rank": by_rank}
        qrels = read_qrels(options.data / "qrels" / "test.tsv")
        rows = [measure("plain", searcher.plain, in_turn, queries, qrels)]
        rows += [
            measure(f"{way}, {join}", search, joining, queries, qrels)
            for way, search in ways.items()
            for join, joining in joins.items()
        ]
    print_json(options.data, rows) if options.json else print_table(options.data, rows)


def print_table(data: Path, rows: list[Row]) -> None:
    print(f"{machine.header()}\n{data.name}: {rows[0].perfect.questions} questions")
    print(f"{'way':<28} {'perfect@' + str(K):<22} {'recall@' + str(K):<22} searches")
    for row in rows:
        cells = [f"{each.mean:.3f} [{each.low:.3f}, {each.high:.3f}]" for each in (row.perfect, row.recall)]
        print(f"{row.way:<28} {cells[0]:<22} {cells[1]:<22} {row.searches:.1f}")


def print_json(data: Path, rows: list[Row]) -> None:
    line = {"machine": machine.describe(), "data": data.name, "k": K, "rows": [asdict(row) for row in rows]}
    print(json.dumps(line, allow_nan=False))


if __name__ == "__main__":
    main()
