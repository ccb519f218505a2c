"""Corrective RAG's grades beside the floor: what the floor lets through and they stop, rightly or wrongly.

    python bench/corrective.py --shared DIR --kept DIR [--sets bank squad2] [--each N] [--llm-url URL]

The bank of examples/ (without its scanned manuals) with its test set, and squad2: N answerable questions, N whose
article the reader may not see (absent), and N made to mislead (impossible). All go through the real search; what it
finds is kept in `--kept`. Of each kind of questions every second one is fitted to, the others are reported, with
bootstrap 95 % intervals. A question is refused if the floor (0.40) refuses it, or if all that it lets through is graded
below `lower`. With --llm-url a model at an OpenAI-compatible endpoint grades.
"""

from __future__ import annotations

import argparse
import math
import pickle
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import machine
import numpy as np
import refusal
from bank import BANK

from citewell import Index, Settings
from citewell.checking.grading import branch, grade
from citewell.evaluation.calibration import Evidenced, figures, fit
from citewell.evaluation.metrics import estimate
from citewell.evaluation.runs import reader_of
from citewell.evaluation.testset import Question, read_testset
from citewell.models import configured
from citewell.models.embedder import Embedder, ModelIdentity, TokenSpans, Vectors
from citewell.models.llm import LLM
from citewell.models.minilm import MiniLM
from citewell.retrieval.floor import BUILT_IN, above_floor, best_evidence
from citewell.types import Floor, FloorOrigin, Hit

GENERATION = Settings().generation

ANSWER_AT_LEAST = 0.99
SURE = 0.95
"""The share of answerable questions among those above `upper`."""

Found = list[tuple[Question, tuple[Hit, ...]]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, the floor's evidence, and the best grade of what the floor lets through (-inf for nothing)."""

    question: Question
    evidence: float
    grade: float


class Remembering:
    """The built-in embedder; passages of many questions have the same units."""

    def __init__(self) -> None:
        self._inner: Embedder = MiniLM(threads=1)
        self._vectors: dict[str, Vectors] = {}

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    def token_spans(self, text: str) -> TokenSpans:
        return self._inner.token_spans(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_queries(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            self._vectors |= dict(zip(new, self._inner.embed_passages(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])


def found(name: str, shared: Path, kept: Path, each: int) -> Found:
    """What a search finds for each question; kept for the next time."""
    file = kept / f"{name}.pickle"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        file.write_bytes(
            pickle.dumps(_bank(kept) if name == "bank" else _squad(shared / "data" / "squad2", kept, each))
        )
    known: Found = pickle.loads(file.read_bytes())  # noqa: S301 - this program's own file
    return known


def _bank(kept: Path) -> Found:
    settings = Settings()
    settings = settings.model_copy(update={"loading": settings.loading.model_copy(update={"ocr": "off"})})
    if not (place := kept / "bank-index").exists():
        with Index.create(place, settings=settings) as index:
            index.add(BANK / "documents")
    return _searched(place, (each for each in read_testset(BANK / "testset.jsonl") if each.kind != "scanned"))


def _squad(data: Path, kept: Path, each: int) -> Found:
    paragraphs = list(refusal.documents(data))
    if not (place := kept / "squad2-index").exists():
        with Index.create(place) as index:
            index.add_documents(paragraphs)
    made = refusal.questions(data, sorted({group for one in paragraphs for group in one.rights.groups}))
    rng = random.Random(0)
    sampled = {kind: rng.sample(questions, each) for kind, questions in made.items()}
    return _searched(place, (one.model_copy(update={"kind": kind}) for kind in made for one in sampled[kind]))


def _searched(place: Path, questions: Iterable[Question]) -> Found:
    print(f"{place.name}: searching", file=sys.stderr, flush=True)
    with Index.open(place) as index:
        return [(each, index.search(each.question, principal=reader_of(each), as_of=each.as_of)) for each in questions]


def judged(known: Found, embedder: Embedder, llm: LLM | None) -> Iterator[Judged]:
    for question, hits in known:
        passing = above_floor(question.question, hits, BUILT_IN)
        grades = grade(question.question, passing, embedder, llm).grades
        yield Judged(question, best_evidence(question.question, hits), max(grades, default=-math.inf))


def tasks(by_set: dict[str, list[Judged]]) -> dict[str, list[Judged]]:
    """Those with one kind of unanswerable questions each, and all together."""
    made = {name: some for name, some in by_set.items() if name != "squad2"}
    for kind in ("absent", "impossible") if "squad2" in by_set else ():
        made[kind] = [each for each in by_set["squad2"] if each.question.kind in ("answerable", kind)]
    return made | {"all": [each for some in by_set.values() for each in some]} if len(by_set) > 1 else made


def report(name: str, some: Sequence[Judged]) -> None:
    by_kind: Counter[str] = Counter()
    halves: tuple[list[Judged], list[Judged]] = ([], [])
    for each in some:
        halves[by_kind[each.question.kind] % 2].append(each)
        by_kind[each.question.kind] += 1
    fitted, held_out = halves
    grades, floors = _by_grade(held_out), _by_evidence(held_out)
    print(f"\n{name}: held out {refusal.sides(floors)} questions\n")
    print(f"AUC held out: the floor's evidence {refusal.interval(fit(floors).auc)}, ", end="")
    print(f"the grades {refusal.interval(fit([Evidenced(each.question, _whole(each)) for each in held_out]).auc)}")
    print(f"\n{refusal.HEADER}")
    print(refusal.row("a floor of 0.40", figures(floors, Floor(FloorOrigin.BUILT_IN, BUILT_IN))))
    least = fit(_by_evidence(fitted)).best.floor
    print(refusal.row(f"a floor of {least:.3f}, most right", figures(floors, Floor(FloorOrigin.SETTINGS, least))))
    lower = GENERATION.check_lower
    print(refusal.row(f"0.40, and lower {lower:.2f}, built in", figures(grades, Floor(FloorOrigin.SETTINGS, lower))))
    curves = {
        "most right": fit(_by_grade(fitted)),
        "answers 99 %": fit(_by_grade(fitted), answer_at_least=_reached(fitted)),
    }
    for words, curve in curves.items():
        lower = curve.best.floor
        print(refusal.row(f"0.40, and lower {lower:.3f}, {words}", figures(grades, Floor(FloorOrigin.SETTINGS, lower))))
    branches = _branches(held_out, GENERATION.check_upper, GENERATION.check_lower)
    print(f"\nbuilt in: {_gain(held_out, GENERATION.check_lower)}; {branches}")
    for words, curve in curves.items():
        lower = curve.best.floor
        upper = _sure(fitted, lower)
        print(f"\n{words}: {_gain(held_out, lower)}; upper {upper:.3f}: {_branches(held_out, upper, lower)}")


def _by_evidence(some: Sequence[Judged]) -> list[Evidenced]:
    return [Evidenced(each.question, each.evidence) for each in some]


def _by_grade(some: Sequence[Judged]) -> list[Evidenced]:
    return [Evidenced(each.question, each.grade) for each in some]


def _whole(each: Judged) -> float:
    """A value that orders what the floor refuses, too: below all grades."""
    return each.grade if each.grade > -math.inf else min(each.evidence, 0.0) - 1


def _reached(some: Sequence[Judged]) -> float:
    """99 % of the answerable questions that the floor does not refuse."""
    passing = [each.grade > -math.inf for each in some if each.question.answerable]
    return ANSWER_AT_LEAST * sum(passing) / len(passing)


def _sure(some: Sequence[Judged], lower: float) -> float:
    """The lowest `upper` above which `SURE` of the questions are answerable; 1 where there is none."""
    for upper in sorted({each.grade for each in some if each.grade >= lower}):
        above = [each.question.answerable for each in some if each.grade > upper]
        if above and sum(above) >= SURE * len(above):
            return upper
    return 1.0


def _gain(some: Sequence[Judged], lower: float) -> str:
    """Right decisions beyond those of the floor, and what is refused beyond what it refuses."""
    further = [each for each in some if -math.inf < each.grade < lower]
    better = [
        (each.grade < lower) * (-1.0 if each.question.answerable else 1.0) * (each.grade > -math.inf) for each in some
    ]
    lost = sum(each.question.answerable for each in further)
    gain = estimate(better)
    return (
        f"right decisions {gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) beside the floor alone; of "
        f"{len(some)} questions it refuses {len(further)} more, {lost} of them answerable"
    )


def _branches(some: Sequence[Judged], upper: float, lower: float) -> str:
    counted = Counter((each.question.answerable, branch([each.grade], upper, lower).value) for each in some)
    sides = {True: "answerable", False: "unanswerable"}
    names = ("correct", "ambiguous", "incorrect")
    return "; ".join(
        f"{side} {', '.join(f'{counted[is_it, one]} {one}' for one in names)}" for is_it, side in sides.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--kept", type=Path, required=True, help="a folder for what is found")
    parser.add_argument("--sets", nargs="+", choices=("bank", "squad2"), default=("bank", "squad2"))
    parser.add_argument("--each", type=int, default=100, help="questions of each kind of squad2")
    parser.add_argument("--llm-url")
    parser.add_argument("--llm-model", default="model")
    options = parser.parse_args()
    embedder, llm = Remembering(), None
    if options.llm_url:
        named = {"llm": f"openai:{options.llm_model}", "llm_url": options.llm_url, "llm_timeout_s": 600}
        llm = configured.llm(Settings().models.model_copy(update=named))
    print(machine.header())
    by_set = {}
    for name in options.sets:
        known = found(name, options.shared, options.kept, options.each)
        by_set[name] = list(judged(known, embedder, llm))
    for name, some in tasks(by_set).items():
        report(name, some)


if __name__ == "__main__":
    main()
