"""BEIR (Thakur et al. 2021): a folder with queries.jsonl, corpus.jsonl and judgements in qrels/*.tsv.

People judged whole passages, so the evidence is the passage as a document named by its id, with its first sentence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, Field

from citewell.errors import PathError
from citewell.evaluation.layouts.imported import Imported, Passage
from citewell.evaluation.layouts.quotes import opening
from citewell.evaluation.layouts.reading import checked, content, either, records, wrong
from citewell.evaluation.testset import Evidence, Question

QRELS = "qrels"

_SCORE = re.compile(r"-?[0-9]{1,9}")

NOT_JUDGED = "queries without a judgement"
NOT_THERE = "judgements of passages that are not in the corpus"
NOT_ASKED = "judgements of queries that are not there"


class _Query(BaseModel):
    id: str = Field(alias="_id")
    text: str = Field(min_length=1)
    answer: str = ""


class _Passage(BaseModel):
    id: str = Field(alias="_id")
    title: str = ""
    text: str = ""


@dataclass(slots=True)
class _Judged:
    """What is judged of one query: the grade of each passage above 0, and in which splits."""

    grades: dict[str, int] = field(default_factory=dict)
    splits: list[str] = field(default_factory=list)


def is_beir(path: Path) -> bool:
    """Whether it is such a folder, or one of its files of judgements."""
    folder = folder_of(path)
    return either(folder, "queries.jsonl") is not None and (folder / QRELS).is_dir()


def read_beir(path: Path) -> Imported:
    """The questions of a folder, or of one file in its `qrels`. Of several files, each question is tagged with its own.

    Raises:
        PathError: a file is not there, or a line of it is wrong.
    """
    folder = folder_of(path)
    splits = [path] if path.is_file() else sorted((folder / QRELS).glob("*.tsv"))
    judged = _judgements(splits)
    wanted = {name for each in judged.values() for name in each.grades}
    quotes = {passage.name: opening(passage.text or passage.title) for passage in passages(folder, wanted)}
    left_out: Counter[str] = Counter()
    questions = []
    for query in records(_needed(folder, "queries.jsonl"), _Query):
        found = judged.pop(query.id, None)
        if found is None:
            left_out[NOT_JUDGED] += 1
            continue
        with checked(path, f"query {query.id!r}"):
            question = _question(query, found, quotes, tagged=len(splits) > 1)
        left_out[NOT_THERE] += sum(not quotes.get(name) for name in found.grades)
        questions += [question] if question is not None else []
    left_out[NOT_ASKED] = len(judged)
    return Imported(tuple(questions), dict(+left_out))


def _question(query: _Query, found: _Judged, quotes: Mapping[str, str], *, tagged: bool) -> Question | None:
    """None where none of its passages is there."""
    evidence = tuple(
        Evidence(document=name, quote=quotes[name], grade=grade)
        for name, grade in found.grades.items()
        if quotes.get(name)
    )
    if not evidence:
        return None
    tags = tuple(found.splits) if tagged else ()
    return Question(id=query.id, question=query.text, expected_answer=query.answer, evidence=evidence, tags=tags)


def passages(path: Path, wanted: Collection[str] | None = None) -> Iterator[Passage]:
    """The passages of the corpus, or those of the names `wanted`."""
    for each in records(_needed(folder_of(path), "corpus.jsonl"), _Passage):
        if wanted is None or each.id in wanted:
            yield Passage(each.id, each.title, each.text)


def folder_of(path: Path) -> Path:
    """The data set's folder, also where a file of its judgements is given."""
    return path.parent.parent if path.is_file() and path.parent.name == QRELS else path


def _judgements(paths: list[Path]) -> dict[str, _Judged]:
    judged: dict[str, _Judged] = defaultdict(_Judged)
    for path in paths:
        for number, line in enumerate(content(path).decode("utf-8", "replace").splitlines(), start=1):
            cells = line.split("\t") if "\t" in line else line.split()
            if len(cells) < 3:
                raise wrong(path, f"line {number}: it has {len(cells)} columns, not query-id, corpus-id and score")
            # TREC's own files have a column more, between the two ids.
            query, passage, score = cells[0], cells[-2], cells[-1].strip()
            if not _SCORE.fullmatch(score):
                if number == 1:
                    continue  # the names of the columns
                raise wrong(path, f"line {number}: {score!r} is no score")
            if int(score) > 0:
                each = judged[query]
                each.grades[passage] = max(int(score), each.grades.get(passage, 0))
                each.splits = list(dict.fromkeys([*each.splits, path.stem]))
    return dict(judged)


def _needed(folder: Path, name: str) -> Path:
    path = either(folder, name)
    if path is None:
        raise PathError(f"{folder} has no {name}.", remedy="Give the folder of a BEIR data set, with its corpus.")
    return path
