"""What the techniques of techniques.toml cost on the running example: work to index again, room, time to answer.

    python bench/techniques.py [--only NAME ...]

A technique is put to the settings that there are by default; where these have it already, to others that have not:
`STARTS`. Indexes are made of the same documents, read once. `build` and `bytes` are in times those of the start.
`query_ms` is the median over every third question of the test set, each asked with and without the technique in turn.
All times are the processor's, over its threads, so that other work on the machine counts little. Techniques that a
person must do, or that are not in this version, are not measured.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import machine

from citewell import Document, Index, Settings
from citewell.evaluation.runs import reader_of
from citewell.evaluation.techniques import Patch, Technique, patched, techniques
from citewell.evaluation.testset import Question, read_testset
from citewell.retrieval.floor import BUILT_IN

BANK = Path(__file__).parents[1] / "examples" / "bank"
STARTS: dict[str, Patch] = {
    "keep 5": {"retrieval.keep": 1},
    "both legs": {"retrieval.legs": ("dense",)},
    "cut by structure": {"chunking.method": "fixed"},
    "lower floor": {"retrieval.floor": BUILT_IN},
    "re-ranking": {"retrieval.rerank": False},
    "fused by scores": {"retrieval.fusion": "rrf"},
    "steeper fusion": {"retrieval.fusion": "rrf"},
}


@dataclass(frozen=True, slots=True)
class Made:
    """An index, and what it took."""

    path: Path
    seconds: float
    bytes: int


class Maker:
    """Makes an index of the documents for each way to make one, once."""

    def __init__(self, folder: Path, documents: Sequence[Document]) -> None:
        self._folder = folder
        self._documents = documents
        self._made: dict[str, Made] = {}

    def index(self, settings: Settings) -> Made:
        way = repr((settings.chunking, settings.storage))
        if way not in self._made:
            path = self._folder / str(len(self._made))
            with Index.create(path, settings=settings) as index:
                seconds = _taken(partial(index.add_documents, self._documents))
                self._made[way] = Made(path, seconds, index.status().bytes_on_disk)
        return self._made[way]


def _taken(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def asked_ms(before: Index, after: Index, questions: Sequence[Question]) -> tuple[float, float]:
    """Milliseconds of a question before, and how many more after: medians."""
    for index in (before, after):
        index.ask(questions[0].question)  # what a first call loads is no question's time
    ms: list[tuple[float, float]] = []
    for at, question in enumerate(questions):
        reader, day, taken = reader_of(question), question.as_of, [0.0, 0.0]
        for which in (at % 2, 1 - at % 2):
            index = (before, after)[which]
            taken[which] = 1000 * _taken(partial(index.ask, question.question, principal=reader, as_of=day))
        ms.append((taken[0], taken[1]))
    return statistics.median(one for one, _ in ms), statistics.median(other - one for one, other in ms)


def measure(technique: Technique, maker: Maker, questions: Sequence[Question]) -> str:
    """A row: what it starts from where that is not the default, times the work, times the room, milliseconds."""
    start = STARTS.get(technique.name, {})
    before = patched(Settings(), start)
    patch = technique.patch(before)
    if not patch:
        raise ValueError(f"{technique.name} changes nothing: add to STARTS what it changes something in")
    after = patched(before, patch)
    old, new = maker.index(before), maker.index(after)
    with Index.open(old.path, settings=before) as one, Index.open(new.path, settings=after) as other:
        was, more = asked_ms(one, other, questions)
    built = f"{new.seconds / old.seconds:.2f}" if new is not old else "-"
    room = f"{new.bytes / old.bytes:.2f}" if new is not old else "-"
    return f"{technique.name:<20} {built:>6} {room:>6} {was:>7.0f} {more:>+8.0f}  {start or ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    only = parser.parse_args().only
    wanted = [each for each in techniques().techniques.values() if each.available and not each.do]
    questions = read_testset(BANK / "testset.jsonl")[::3]
    print(f"{machine.header()}\n{len(questions)} questions")
    with tempfile.TemporaryDirectory() as scratch:
        with Index.create(Path(scratch) / "read") as index:
            index.add(BANK / "documents")
            documents = index.stored()
        maker = Maker(Path(scratch), documents)
        print(f"{'technique':<20} {'build':>6} {'bytes':>6} {'ms was':>7} {'query_ms':>8}  from")
        for technique in wanted:
            if only is None or technique.name in only:
                print(measure(technique, maker, questions), flush=True)


if __name__ == "__main__":
    main()
