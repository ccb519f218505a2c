"""Instructions planted in documents: how many are found, how often a harmless text is taken for one, what they reach.

    python bench/injections.py --data DIR [--carriers N] [--classifier] [--json]

DIR holds injections, scifact, squad2, contextual-codebase and mtrag; harmless too are the passages of the running
example (its scan left out). A text counts as found where a suspicion in it is at least as strong as the
threshold, which is chosen on every second text of all sets by Youden's index. `written afterwards` are the texts of
injections_own.py. Intervals are Wilson's, 95 %.

planted     every malicious text at the start, in the middle and at the end of N mails, and aimed: in the middle
            behind the words of the question. Is it found, is the suspicion's span where it was put, and does the answer
            without a language model quote it: as Citewell indexes the mail, and where it is not made untrusted?
classifier  a linear model on hashed n-grams or on the embedder's vector, tried beside the rules on texts of kinds
            that it has not seen (see injections_classifier.py)
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import machine
from beir import read_lines
from injections_own import ATTACKS, HARMLESS
from shares import Share

from citewell.chunking.pipeline import chunk
from citewell.chunking.sentences import sentences
from citewell.generation.extractive import extract
from citewell.loading import load
from citewell.loading.discovery import discover
from citewell.loading.given import from_text
from citewell.models.embedder import Vectors
from citewell.models.minilm import MiniLM
from citewell.security.admission import judged
from citewell.security.scan import THRESHOLD, scan
from citewell.settings import Chunking, Loading
from citewell.types import Chunk, Document, Hit, Scale

BANK = Path(__file__).parents[1] / "examples" / "bank" / "documents"
SCAN = "card-fee-schedule-2026.pdf"
PLACES = ("start", "middle", "end")
AIMED = "aimed"
"""In the middle, behind the words of the question that will be asked: by somebody who knows it."""
STEPS = tuple(step / 20 for step in range(4, 20))
SENTENCES = 3
"""Sentences at most in an answer, as by default."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the data: of which set and kind it is, and whether it is an attack."""

    text: str
    group: str
    kind: str
    malicious: bool


class Remembering:
    """The real embedder, asked for each text once: the mails differ in one sentence."""

    def __init__(self) -> None:
        self.real = MiniLM()
        self.identity, self.token_spans = self.real.identity, self.real.token_spans
        self.embed_queries = self.real.embed_queries
        self._known: dict[str, Vectors] = {}

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known.update(zip(new, self.real.embed_passages(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def attacks(data: Path) -> Iterator[Text]:
    for line in read_lines(data / "injections", "injections.jsonl"):
        malicious = line["label"] == "malicious"
        text = line["text"].replace("{canary}", "K7Q2-9F4D-XW")
        yield Text(text, line["source"], line["category"], malicious)


def own() -> list[Text]:
    attacks = [Text(text, "written afterwards", "", malicious=True) for text in ATTACKS]
    return attacks + [Text(text, "written afterwards", "", malicious=False) for text in HARMLESS]


def harmless(data: Path, embedder: Remembering) -> Iterator[Text]:
    mails = (line["context"] for line in read_lines(data / "injections", "carrier_emails.jsonl"))
    scifact = [line["text"] for line in read_lines(data / "scifact", "corpus.jsonl")][:500]
    squad = (line["text"] for line in read_lines(data / "squad2", "corpus.jsonl"))
    code = (line["text"] for line in read_lines(data / "contextual-codebase", "corpus.jsonl"))
    tasks = read_lines(data / "mtrag", "un_tasks.jsonl")
    web = dict.fromkeys(context["text"] for task in tasks for context in task["contexts"])
    sets = {
        "carrier mails": mails,
        "example passages": passages(embedder),
        "scifact abstracts": scifact,
        "squad2 paragraphs": squad,
        "code": code,
        "mtrag passages": web,
    }
    for group, texts in sets.items():
        yield from (Text(text, group, "", malicious=False) for text in texts)


def single_sentences(data: Path) -> Iterator[str]:
    """Harmless texts as short as an attack: questions, and sentences of paragraphs and mails."""
    yield from (line["text"] for line in list(read_lines(data / "squad2", "queries.jsonl"))[:1500:5])
    paragraphs = [line["text"] for line in read_lines(data / "squad2", "corpus.jsonl")][::4]
    mails = [line["context"] for line in read_lines(data / "injections", "carrier_emails.jsonl")]
    for text in paragraphs + mails:
        yield from (text[start:end] for start, end in sentences(text)[:2])


def passages(embedder: Remembering) -> Iterator[str]:
    for file in discover([BANK]).files:
        if file.name != SCAN:
            made = chunk(load(file, Loading()).document, Chunking(), embedder)
            yield from (each.text for each in made.chunks)


def strongest(text: str) -> float:
    return max((each.strength for each in scan(text, 0.0)), default=0.0)


def best_threshold(scored: Sequence[tuple[Text, float]]) -> float:
    """By Youden's index: the share found less the share of false alarms; of equals, the middle one."""
    bad = [score for text, score in scored if text.malicious]
    good = [score for text, score in scored if not text.malicious]

    def youden(step: float) -> float:
        return sum(score >= step for score in bad) / len(bad) - sum(score >= step for score in good) / len(good)

    best = max(map(youden, STEPS))
    equals = [step for step in STEPS if youden(step) == best]
    return equals[len(equals) // 2]


def rates(scored: Sequence[tuple[Text, float]], *, malicious: bool, kinds: bool = True) -> list[Share]:
    """By set, and of the attacks by kind too."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for text, score in scored:
        if text.malicious is malicious:
            groups[text.group].append(score >= THRESHOLD)
            if malicious and kinds:
                groups[f"{text.group}: {text.kind}"].append(score >= THRESHOLD)
    return [Share.of_all(name, outcomes) for name, outcomes in groups.items()]


@dataclass(slots=True)
class Planted:
    """What became of one attack planted in one mail."""

    place: str
    group: str
    found: bool
    on_it: bool
    """The suspicions cover at least half of what was planted."""
    beyond: float
    """Share of the mail's own signs that they cover."""
    answered: bool
    quoted: bool
    quoted_undefended: bool
    """If its mail is not made untrusted."""


def planted(data: Path, attack: Sequence[Text], count: int, embedder: Remembering) -> Iterator[Planted]:
    mails = list(read_lines(data / "injections", "carrier_emails.jsonl"))
    for mail in mails[:: max(len(mails) // count, 1)][:count]:
        question = mail["question"].removeprefix("Q: ")
        for text in attack:
            for place in (*PLACES, AIMED):
                yield one_planted(mail["context"], question, text, place, embedder)


def one_planted(mail: str, question: str, attack: Text, place: str, embedder: Remembering) -> Planted:
    middle = mail.find("\n", len(mail) // 2) if "\n" in mail[len(mail) // 2 :] else mail.find(". ", len(mail) // 3) + 1
    at = {"start": 0, "end": len(mail)}.get(place, max(middle, 0))
    before = f"{mail[:at].rstrip()}\n\n" if at else ""
    put = f"{question.partition('?')[0]}: {attack.text}" if place == AIMED else attack.text
    document = from_text(f"{before}{put}\n\n{mail[at:].lstrip()}", source="mail:planted")
    start = document.text.find(put.strip()[:40])
    end = start + len(put.strip())
    covered = [False] * len(document.text)
    for each in scan(document.text):
        covered[each.start : each.end] = [True] * (each.end - each.start)
    inside = sum(covered[start:end])
    answered, quoted = asked(question, judged(document).document, (start, end), embedder)
    _, undefended = asked(question, document, (start, end), embedder)
    own = len(document.text) - (end - start)
    beyond = (sum(covered) - inside) / max(own, 1)
    return Planted(place, attack.group, any(covered), inside * 2 >= end - start, beyond, answered, quoted, undefended)


def asked(question: str, document: Document, put: tuple[int, int], embedder: Remembering) -> tuple[bool, bool]:
    """Whether a document gives an answer without a language model, and whether that quotes what was put there."""
    hits = [hit(made, rank) for rank, made in enumerate(chunk(document, Chunking(), embedder).chunks, start=1)]
    answer = extract(question, hits, embedder, SENTENCES)
    return bool(answer), any(max(each.unit.start, put[0]) < min(each.unit.end, put[1]) for each in answer)


def hit(made: Chunk, rank: int) -> Hit:
    return Hit(made, made.id, 1.0, Scale.COSINE, rank, {}, 1.0)


def planted_rates(some: Sequence[Planted]) -> list[Share]:
    found = []
    for name in ("found", "on_it", "answered", "quoted", "quoted_undefended"):
        for group in ("", "BIPIA", "bastioncorpus"):
            of = [getattr(each, name) for each in some if group in ("", each.group)]
            found.append(Share.of_all(f"{name.replace('_', ' ')}{f', {group}' if group else ''}", of))
        for place in (*PLACES, AIMED):
            of = [getattr(each, name) for each in some if each.place == place]
            found.append(Share.of_all(f"{name.replace('_', ' ')}, {place}", of))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--carriers", type=int, default=2)
    parser.add_argument("--classifier", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder = Remembering()
    texts = [*attacks(options.data), *harmless(options.data, embedder)]
    scored = [(text, strongest(text.text)) for text in texts]
    later = [(text, strongest(text.text)) for text in own()]
    malicious = [text for text in texts if text.malicious]
    some = list(planted(options.data, malicious, options.carriers, embedder)) if options.carriers else []
    result: dict[str, Any] = {
        "threshold": THRESHOLD,
        "written_afterwards": [*rates(later, malicious=True, kinds=False), *rates(later, malicious=False)],
        "threshold_chosen": best_threshold(scored[::2]),
        "found": rates(scored, malicious=True),
        "the_other_half": [*rates(scored[1::2], malicious=True, kinds=False), *rates(scored[1::2], malicious=False)],
        "false_alarms": rates(scored, malicious=False),
        "alarms": [[text.group, score, text.text[:100]] for text, score in scored if is_false_alarm(text, score)],
        "planted": planted_rates(some) if some else [],
        "covered_beyond": sum(each.beyond for each in some) / len(some) if some else None,
    }
    if options.classifier:
        from injections_classifier import compared

        known = [(text.text, text.kind, text.malicious) for text in attacks(options.data)]
        result["classifier"] = compared(known, list(single_sentences(options.data)), embedder)
    if options.json:
        print(json.dumps({"machine": machine.describe(), **result}, default=asdict, allow_nan=False))
    else:
        print_tables(result)


def is_false_alarm(text: Text, score: float) -> bool:
    return not text.malicious and score >= THRESHOLD


def print_tables(result: dict[str, Any]) -> None:
    print(machine.header())
    print(f"threshold {result['threshold']}; chosen on every second text: {result['threshold_chosen']}")
    for name in ("written_afterwards", "found", "the_other_half", "false_alarms", "planted"):
        if result[name]:
            print(f"\n| {name.replace('_', ' ')} | |\n| --- | --- |")
            for rate in result[name]:
                print(f"| {rate.name} | {rate} |")
    for group, score, text in result["alarms"]:
        print(f"false alarm in {group}, {score}: {text!r}", file=sys.stderr)
    if result["covered_beyond"] is not None:
        print(f"\nof the mails' own signs covered: {result['covered_beyond']:.2%}")
    for line in result.get("classifier", ()):
        print(line)


if __name__ == "__main__":
    main()
