"""How many planted faults the support check catches, at how many false alarms.

    python bench/support.py --data DIR [--sample N] [--fit] [--json]

DIR holds halueval-qa, mtrag and scifact. Of HaluEval's questions the right and the hallucinated answers cite their
knowledge; beside the check, with and without the question, is the default judge of the bench. Of the running example N
sentences a kind stand as they are and with a scripted fault. Supported claims, most in other words, are those so
labelled or, in MTRAG, of answers that people rated high. Narrowing is measured by SciFact's rationales, and by
neighbouring sentences of the example made one. The halves are the judge's (`judges_data`): all was chosen on the fitted
ones, and --fit prints what the threshold was chosen by. Intervals are 95 %: bootstrap over HaluEval's questions, else
Wilson's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import judges_data
import machine
from beir import read_lines
from shares import wilson
from support_data import Case, cases

from citewell.checking import narrowing
from citewell.checking import support as checking
from citewell.checking.aligned import AlignedJudge
from citewell.checking.claims import claims_of
from citewell.checking.reading import quotable
from citewell.checking.support import Standing, Support, support
from citewell.evaluation.judging.rated import read_rated
from citewell.evaluation.metrics import Estimate, estimate
from citewell.models.embedder import Embedder
from citewell.models.minilm import MiniLM

SAMPLE = 150
RATIONALES = 60
JOINED_CHARS = 110  # of each of two sentences that are made one
CUTS = (0.10, 0.15, 0.20, 0.25)
SETS = ("halueval-qa", "mtrag", "scifact", "example")
MOST_CLAIMS = 60  # of a set
HIGH = 3.5  # of MTRAG's ratings, 1 to 4

Check = Callable[[str, str, str], Standing]
Claim = tuple[str, Sequence[str], str]
"""A claim, what it cites, and the question."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Answers:
    """HaluEval's answers by one check: the shares of the wrong and of the right ones that are not supported.

    `as_short` are the wrong ones that are no longer than the right one.
    """

    half: str
    check: str
    caught: Estimate
    caught_as_short: Estimate
    alarms: Estimate
    unsupported: float
    unsupported_alarms: float


@dataclass(frozen=True, slots=True)
class Found:
    """How many of the sentences of a kind are not supported; the milliseconds of the process that one took."""

    kind: str
    sentences: int
    found: int
    low: float
    high: float
    ms: float


@dataclass(frozen=True, slots=True)
class Standings:
    """How supported claims of a set stand."""

    data: str
    claims: int
    supported: int
    unsure: int
    unsupported: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The share of a set's supported claims whose likeness is below a cut, and nothing else is wrong with them."""

    data: str
    cut: float
    claims: int
    below: float


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Means over sentences: the share of the right characters that is quoted, and of those quoted that are right."""

    data: str
    most: int
    sentences: int
    recall: float
    precision: float


def answers(data: Path, half: str, embedder: Embedder) -> list[Answers]:
    judge = AlignedJudge(embedder)

    def judged(answer: str, knowledge: str, question: str) -> Standing:
        found = judge.judge(claims_of(answer), [knowledge], question)
        return Standing.SUPPORTED if all(one.is_supported for one in found) else Standing.UNSUPPORTED

    checks: dict[str, Check] = {
        "with the question": lambda answer, knowledge, question: (
            support(answer, [knowledge], embedder, question).standing
        ),
        "sentence alone": lambda answer, knowledge, _: support(answer, [knowledge], embedder).standing,
        "aligned judge": judged,
    }
    lines = judges_data.halves(data)[f"halueval-qa-{half}"]
    return [_answers(lines, half, name, check) for name, check in checks.items()]


def _answers(lines: Sequence[judges_data.Record], half: str, name: str, check: Check) -> Answers:
    right = [check(line["right_answer"], line["knowledge"], line["question"]) for line in lines]
    wrong = [
        [check(each, line["knowledge"], line["question"]) for each in line["hallucinated_answers"]] for line in lines
    ]
    short = [
        standing is not Standing.SUPPORTED
        for line, found in zip(lines, wrong, strict=True)
        for each, standing in zip(line["hallucinated_answers"], found, strict=True)
        if len(each.split()) <= len(line["right_answer"].split())
    ]
    return Answers(
        half,
        name,
        estimate([statistics.fmean(one is not Standing.SUPPORTED for one in found) for found in wrong]),
        estimate([float(one) for one in short]),
        estimate([float(one is not Standing.SUPPORTED) for one in right]),
        statistics.fmean(one is Standing.UNSUPPORTED for found in wrong for one in found),
        statistics.fmean(one is Standing.UNSUPPORTED for one in right),
    )


def faults(of: Sequence[Case], embedder: Embedder, sample: int) -> Iterator[Found]:
    kinds: dict[str, list[Case]] = defaultdict(list)
    for case in of:
        kinds[case.kind].append(case)
    for kind, all_of_kind in kinds.items():
        some = all_of_kind[:: max(1, len(all_of_kind) // sample)]
        begin = time.process_time()
        found = sum(not _is_supported(support(each.sentence, [each.quote, each.passage], embedder)) for each in some)
        ms = (time.process_time() - begin) * 1000 / len(some)
        yield Found(kind, len(some), found, *wilson(found, len(some)), ms)


def _is_supported(found: Support) -> bool:
    return found.standing is Standing.SUPPORTED


def narrowings(name: str, of: Sequence[tuple[str, str, Sequence[Span]]]) -> Iterator[Narrowed]:
    """`of` has a sentence, its passage, and where in that the right sentences stand."""
    for most in (1, narrowing.MOST):
        with patch.object(narrowing, "MOST", most):
            spans = [narrowing.narrowed(sentence, passage) or (0, 0) for sentence, passage, _ in of]
        shared = [
            sum(max(0, min(end, last) - max(start, first)) for first, last in right)
            for (start, end), (_, _, right) in zip(spans, of, strict=True)
        ]
        sizes = [sum(last - first for first, last in right) for _, _, right in of]
        recall = statistics.fmean(part / size for part, size in zip(shared, sizes, strict=True))
        precision = statistics.fmean(
            part / max(end - start, 1) for part, (start, end) in zip(shared, spans, strict=True)
        )
        yield Narrowed(name, most, len(of), recall, precision)


def rationales(data: Path) -> Iterator[tuple[str, str, list[Span]]]:
    """SciFact's claims of its test split that an abstract supports."""
    abstracts = {str(each["_id"]): each["sentences"] for each in read_lines(data / "scifact", "sentences.jsonl")}
    for claim in read_lines(data / "scifact", "claims_evidence.jsonl"):
        for evidence in claim["evidence"]:
            if claim["split"] == "test" and evidence["label"] == "SUPPORT":
                sentences, spans, start = abstracts[str(evidence["doc_id"])], list[Span](), 0
                for sentence in sentences:
                    spans.append((start, start + len(sentence)))
                    start += len(sentence) + 1
                yield claim["claim"], " ".join(sentences), [spans[at] for at in evidence["sentences"]]


def joined(of: Sequence[Case]) -> Iterator[tuple[str, str, list[Span]]]:
    """Two short neighbouring sentences of each passage, as one."""
    for passage in dict.fromkeys(case.passage for case in of):
        for one, other in pairwise(quotable(passage)):
            texts = passage[one.start : one.end], passage[other.start : other.end]
            are_short = all(len(text) <= JOINED_CHARS and text.endswith(".") for text in texts)
            if are_short and passage[one.end : other.start].isspace():
                lowered = f"{texts[1][0].lower()}{texts[1][1:]}"
                yield f"{texts[0][:-1]}, and {lowered}", passage, [(one.start, other.end)]
                break


def right_claims(data: Path, half: str) -> dict[str, list[Claim]]:
    """Claims that their passages support, most of them in other words."""
    found: dict[str, list[Claim]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        paths = judges_data.write(data, Path(scratch))
        for name in SETS:
            rated = [
                each for each in read_rated(paths[f"{name}-{half}"]) if each.supported or (each.rating or 0) >= HIGH
            ]
            claims: list[Claim] = [(claim, each.passages, each.question) for each in rated for claim in each.claims]
            found[name] = claims[:: max(1, len(claims) // MOST_CLAIMS)]
    return found


def standings(of: Sequence[Claim], embedder: Embedder) -> list[Support]:
    return [support(claim, cited, embedder, question) for claim, cited, question in of]


def cuts(data: Path, embedder: Embedder) -> Iterator[Cut]:
    """What share of the claims that are supported each cut would find unlike."""
    for name, claims in right_claims(data, "fitted").items():
        for cut in CUTS:
            with patch.object(checking, "UNLIKE", cut):
                found = standings(claims, embedder)
            yield Cut(name, cut, len(found), statistics.fmean(one.reason == checking.SAYS_LITTLE for one in found))


def paraphrases(data: Path, embedder: Embedder) -> Iterator[Standings]:
    for name, claims in right_claims(data, "held-out").items():
        counts = Counter(one.standing for one in standings(claims, embedder))
        yield Standings(
            name, len(claims), counts[Standing.SUPPORTED], counts[Standing.UNSURE], counts[Standing.UNSUPPORTED]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder = MiniLM()
    if options.fit:
        print("| set | cut | claims | below |\n" + "| --- " * 4 + "|")
        for one in cuts(options.data, embedder):
            print(f"| {one.data} | {one.cut:.2f} | {one.claims} | {one.below:.3f} |")
        return
    of_example = cases(embedder)
    halves = {half: [case for case in of_example if case.half == at] for at, half in enumerate(judges_data.HALVES)}
    held_out = halves["held-out"]
    result: dict[str, Any] = {
        "faults": {half: list(faults(some, embedder, options.sample)) for half, some in halves.items()},
        "answers": [one for half in judges_data.HALVES for one in answers(options.data, half, embedder)],
        "paraphrases": list(paraphrases(options.data, embedder)),
        "narrowed": [
            *narrowings("SciFact's rationales", list(rationales(options.data))[:RATIONALES]),
            *narrowings("two sentences as one", list(joined(held_out))[:RATIONALES]),
        ],
    }
    if options.json:
        print(json.dumps({"machine": machine.describe(), **result}, default=asdict, allow_nan=False))
    else:
        print_tables(result)


def print_tables(result: dict[str, Any]) -> None:
    print(machine.header())
    print(
        "\n| HaluEval | check | wrong, not supported | no longer than the right | right, not supported | unsupported |"
    )
    print("| --- " * 6 + "|")
    for one in result["answers"]:
        shares = " | ".join(figure(each) for each in (one.caught, one.caught_as_short, one.alarms))
        print(f"| {one.half} | {one.check} | {shares} | {one.unsupported:.3f} and {one.unsupported_alarms:.3f} |")
    print("\n| the example | sentences | not supported | 95 % interval | ms of CPU |\n" + "| --- " * 5 + "|")
    for half, found in result["faults"].items():
        for one in found:
            interval = f"{one.low:.3f} to {one.high:.3f}"
            print(f"| {one.kind}, {half} | {one.sentences} | {one.found} | {interval} | {one.ms:.1f} |")
    print("\n| supported claims, held-out | n | supported | unsure | unsupported |\n" + "| --- " * 5 + "|")
    for one in result["paraphrases"]:
        print(f"| {one.data} | {one.claims} | {one.supported} | {one.unsure} | {one.unsupported} |")
    print(
        "\n| narrowing | sentences at most | n | right characters quoted | quoted that are right |\n"
        + "| --- " * 5
        + "|"
    )
    for one in result["narrowed"]:
        print(f"| {one.data} | {one.most} | {one.sentences} | {one.recall:.3f} | {one.precision:.3f} |")


def figure(value: Estimate) -> str:
    return f"{value.mean:.3f} ({value.low:.3f} to {value.high:.3f}), {value.questions}"


if __name__ == "__main__":
    main()
