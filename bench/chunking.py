"""How the ways of cutting documents compare: what is found, and how much must be read for it.

    python bench/chunking.py [--only NAME ...] [--squad DIR] [--without-scan] [--json]

Two corpora, each read once and then cut, embedded and searched once for every configuration:

bank     examples/bank: a question is found when every quote of its evidence stands in the passages read
squad2   8 articles of SQuAD 2.0 (Rajpurkar et al. 2018, arXiv:1806.03822), each one document of all its paragraphs: a
         question is found when a passage read holds, inside the question's own paragraph, one of its answers

What is read for a hit is its passage: the chunk, or the larger one around it, below its preamble. `recall@5` is the
share of questions found in the first 5 passages; `tokens` is how long these 5 are on average; `in 1,200` is the share
found when reading stops after 1,200 tokens, so that large and small passages are compared at one price. Intervals are
bootstrap 95 % over the questions; differences are paired with `structure`, the default.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import machine
from bank import BANK, plain
from beir import read_lines

from citewell import Document, Index, Principal, Settings
from citewell.evaluation.metrics import Estimate, estimate
from citewell.loading import AccessRules, discover, load
from citewell.loading.given import from_text
from citewell.models.embedder import TokenSpans
from citewell.models.minilm import MiniLM
from citewell.types import Hit

SQUAD = Path(__file__).parents[2] / "shared" / "data" / "squad2"
SQUAD_QUESTIONS = 400
SEARCHED = 20
BUDGET = 1_200
DEFAULT = "structure"
SCAN = "card-fee-schedule-2026.pdf"
TABLE_KINDS = {"table_cell", "scanned"}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    **{
        f"fixed {size}, overlap {share} %": {"method": "fixed", "size": size, "overlap": size * share // 100}
        for size in (100, 160, 240)
        for share in (0, 10, 20)
    },
    "structure 100": {"size": 100, "overlap": 15},
    "structure 160": {"size": 160, "overlap": 20},
    "semantic": {"method": "semantic"},
    "semantic inside": {"semantic_inside": True},
    "parents 500": {"parents": 500},
    "parents 1000": {"parents": 1_000},
    "100 in parents 500": {"size": 100, "overlap": 0, "parents": 500},
    "100 in parents 1000": {"size": 100, "overlap": 0, "parents": 1_000},
    "table rows": {"table_rows": True},
    "summaries": {"summaries": True},
}


@dataclass(frozen=True, slots=True)
class Read:
    """A stretch of a document that the reader gets; `text` is its preamble and the stretch."""

    document_id: str
    start: int
    end: int
    text: str

    def cut(self, length: int) -> Read:
        """The first `length` characters of it."""
        ahead = len(self.text) - (self.end - self.start)
        return Read(self.document_id, self.start, self.start + max(length - ahead, 0), self.text[:length])


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, by whom and when, and whether the stretches read hold what answers it."""

    text: str
    principal: Principal
    as_of: date | None
    kind: str
    found: Callable[[Sequence[Read]], bool]


@dataclass(frozen=True, slots=True)
class Corpus:
    name: str
    documents: list[Document]
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: found in the first 5 and 10 passages, and in the first `BUDGET` tokens; tokens of the first 5."""

    kind: str
    at_5: bool
    at_10: bool
    in_budget: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class Run:
    """One corpus cut in one way."""

    configuration: str
    chunks: int
    entries: int
    seconds: float
    outcomes: list[Outcome]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. The differences are to the default, question by question."""

    configuration: str
    chunks: int
    entries: int
    seconds: float
    recall_5: Estimate
    recall_10: Estimate
    difference_5: Estimate
    tokens: float
    in_budget: Estimate
    difference_in_budget: Estimate


def bank(*, scan: bool) -> Corpus:
    rules, settings = AccessRules(), Settings()
    files = [file for file in discover([BANK / "documents"]).files if scan or file.name != SCAN]
    documents = [load(file, settings.loading, rules.rules_for(file.path)).document for file in files]
    lines = [json.loads(line) for line in (BANK / "testset.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [
        line
        for line in lines
        if line["answerable"] and (scan or all(SCAN not in it["document"] for it in line["evidence"]))
    ]
    return Corpus("bank", documents, [_bank_question(line) for line in asked])


def _bank_question(line: dict[str, Any]) -> Question:
    quotes = [plain(item["quote"]) for item in line["evidence"]]

    def found(reads: Sequence[Read]) -> bool:
        texts = [plain(read.text) for read in reads]
        return all(any(quote in text for text in texts) for quote in quotes)

    day = date.fromisoformat(line["as_of"]) if line["as_of"] else None
    return Question(line["question"], Principal(groups=frozenset(line["groups"])), day, line["kind"], found)


def squad(folder: Path) -> Corpus:
    articles: dict[str, dict[str, str]] = {}
    for line in read_lines(folder, "corpus.jsonl"):
        articles.setdefault(line["title"], {})[line["_id"]] = " ".join(line["text"].split())
    documents, places = [], {}
    for title, paragraphs in articles.items():
        document = from_text("\n\n".join(paragraphs.values()), source=f"squad2:{title}", title=title)
        documents.append(document)
        for name, element in zip(paragraphs, document.elements, strict=True):
            places[name] = (document, element.start, element.end)
    answerable = [line for line in read_lines(folder, "queries.jsonl") if not line["is_impossible"]]
    asked = random.Random(0).sample(answerable, SQUAD_QUESTIONS)
    return Corpus("squad2", documents, [_squad_question(line, *places[line["paragraph_id"]]) for line in asked])


def _squad_question(line: dict[str, Any], document: Document, start: int, end: int) -> Question:
    spans = [span for answer in line["answers"] for span in _occurrences(document.text, answer, start, end)]

    def found(reads: Sequence[Read]) -> bool:
        mine = [read for read in reads if read.document_id == document.id]
        return any(read.start <= first and last <= read.end for read in mine for first, last in spans)

    return Question(line["text"], Principal(), None, "squad2", found)


def _occurrences(text: str, answer: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    answer = " ".join(answer.split())
    place = text.find(answer, start, end)
    if place < 0:
        raise ValueError(f"the answer {answer!r} is not in its paragraph")
    while place >= 0:
        yield place, place + len(answer)
        place = text.find(answer, place + 1, end)


def measure(corpus: Corpus, name: str, token_spans: Callable[[str], TokenSpans]) -> Run:
    settings = Settings(chunking=CONFIGURATIONS[name])
    with tempfile.TemporaryDirectory() as scratch, Index.create(Path(scratch, "index"), settings=settings) as index:
        report = index.add_documents(corpus.documents)
        if len(report.files) != len(corpus.documents) or report.failed:
            raise RuntimeError(f"{name}: not every document was indexed")
        status = index.status()
        outcomes = []
        for question in corpus.questions:
            hits = index.search(question.text, k=SEARCHED, principal=question.principal, as_of=question.as_of)
            outcomes.append(judge(question, hits, token_spans))
    return Run(name, status.chunks, status.entries, report.seconds, outcomes)


def judge(question: Question, hits: Sequence[Hit], token_spans: Callable[[str], TokenSpans]) -> Outcome:
    reads = [_read(hit) for hit in hits]
    tokens = [token_spans(read.text) for read in reads[:5]]
    return Outcome(
        kind=question.kind,
        at_5=question.found(reads[:5]),
        at_10=question.found(reads[:10]),
        in_budget=question.found(list(_within_budget(reads, token_spans))),
        tokens=sum(map(len, tokens)),
    )


def _read(hit: Hit) -> Read:
    passage = hit.passage
    text = f"{passage.preamble}\n{passage.text}" if passage.preamble else passage.text
    return Read(passage.document_id, passage.start, passage.end, text)


def _within_budget(reads: Iterable[Read], token_spans: Callable[[str], TokenSpans]) -> Iterable[Read]:
    """The stretches in order, the last one cut where the budget ends."""
    left = BUDGET
    for read in reads:
        spans = token_spans(read.text)
        if len(spans) > left:
            yield read.cut(int(spans[left - 1][1]) if left else 0)
            return
        left -= len(spans)
        yield read


def rows(runs: Sequence[Run], kinds: set[str] | None = None) -> list[Row]:
    """The table over the questions of some kinds, or all."""
    return [_row(run, runs[0], kinds) for run in runs]


def _row(run: Run, default: Run, kinds: set[str] | None) -> Row:
    pairs = [
        (mine, its)
        for mine, its in zip(run.outcomes, default.outcomes, strict=True)
        if kinds is None or mine.kind in kinds
    ]
    return Row(
        configuration=run.configuration,
        chunks=run.chunks,
        entries=run.entries,
        seconds=run.seconds,
        recall_5=estimate([mine.at_5 for mine, _ in pairs]),
        recall_10=estimate([mine.at_10 for mine, _ in pairs]),
        difference_5=estimate([float(mine.at_5) - its.at_5 for mine, its in pairs]),
        tokens=statistics.mean(mine.tokens for mine, _ in pairs),
        in_budget=estimate([mine.in_budget for mine, _ in pairs]),
        difference_in_budget=estimate([float(mine.in_budget) - its.in_budget for mine, its in pairs]),
    )


def print_table(name: str, table: Sequence[Row]) -> None:
    print(f"\n{name}: {table[0].recall_5.questions} questions\n")
    print("| chunking | chunks | entries | s | recall@5 | to default | recall@10 | tokens | in 1,200 | to default |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in table:
        cells = (
            row.configuration, f"{row.chunks:,}", f"{row.entries:,}", f"{row.seconds:.0f}", _share(row.recall_5),
            _difference(row.difference_5), _share(row.recall_10), f"{row.tokens:,.0f}", _share(row.in_budget),
            _difference(row.difference_in_budget),
        )  # fmt: skip
        print(f"| {' | '.join(cells)} |")


def _share(value: Estimate) -> str:
    return f"{_short(value.mean)} [{_short(value.low)}, {_short(value.high)}]"


def _difference(value: Estimate) -> str:
    return f"{_short(value.mean, '+')} [{_short(value.low, '+')}, {_short(value.high, '+')}]"


def _short(number: float, sign: str = "") -> str:
    return f"{number:{sign}.3f}".replace("0.", ".", 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CONFIGURATIONS, default=list(CONFIGURATIONS), metavar="NAME")
    parser.add_argument("--squad", type=Path, default=SQUAD)
    parser.add_argument("--without-scan", action="store_true", help="leave out what takes OCR, and its questions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    corpora = [bank(scan=not options.without_scan)]
    if options.squad.is_dir():
        corpora.append(squad(options.squad))
    else:
        print(f"no data at {options.squad}: squad2 is left out", file=sys.stderr)
    token_spans = MiniLM().token_spans
    tables: dict[str, list[Row]] = {}
    for corpus in corpora:
        runs = []
        for name in dict.fromkeys((DEFAULT, *options.only)):
            runs.append(measure(corpus, name, token_spans))
            print(f"{corpus.name}, {name}: {runs[-1].chunks} chunks in {runs[-1].seconds:.0f} s", file=sys.stderr)
        tables[corpus.name] = rows(runs)
        if corpus.name == "bank":
            tables["bank, tables and the scan alone"] = rows(runs, TABLE_KINDS)
    if options.json:
        found = {name: [asdict(row) for row in table] for name, table in tables.items()}
        print(json.dumps({"machine": machine.describe(), "budget": BUDGET, "tables": found}, allow_nan=False))
        return
    print(machine.header())
    for name, table in tables.items():
        print_table(name, table)


if __name__ == "__main__":
    main()
