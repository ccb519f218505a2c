"""SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): paragraphs, and questions that people wrote on each.

A paragraph is a document, named by its article and its number in it (`Force#3`). The evidence is the sentence in which
the answer begins. A question that its paragraph does not answer has no evidence and is not answerable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.evaluation.layouts.beir import passages as corpus
from citewell.evaluation.layouts.imported import Imported, Passage
from citewell.evaluation.layouts.quotes import around
from citewell.evaluation.layouts.reading import checked, content, either, records
from citewell.evaluation.testset import Evidence, Question
from citewell.evaluation.words import words

NO_ANSWER = "questions without an answer"
NOT_FOUND = "questions whose answer does not stand in its paragraph"


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    text: str
    answer_start: int


class _Asked(BaseModel):
    id: str
    question: str = Field(min_length=1)
    answers: tuple[_Answer, ...] = ()
    is_impossible: bool = False


class _Paragraph(BaseModel):
    context: str
    qas: tuple[_Asked, ...]


class _Article(BaseModel):
    title: str = ""
    paragraphs: tuple[_Paragraph, ...]


class _File(BaseModel):
    data: tuple[_Article, ...]


class _Line(BaseModel):
    """A question of a folder that keeps the paragraphs in a corpus, as BEIR has it."""

    id: str = Field(alias="_id")
    text: str = Field(min_length=1)
    answers: tuple[str, ...]
    is_impossible: bool
    paragraph_id: str


def is_squad_folder(path: Path) -> bool:
    """Whether it is a folder of questions that name their paragraph."""
    queries = either(path, "queries.jsonl")
    if queries is None:
        return False
    first = content(queries).lstrip().partition(b"\n")[0]
    try:
        _Line.model_validate_json(first)
    except ValidationError:
        return False
    return True


def read_squad(path: Path) -> Imported:
    """The questions of a file, or of a folder with `queries.jsonl` and `corpus.jsonl`.

    Raises:
        PathError: it cannot be read, or is in another layout.
    """
    left_out: Counter[str] = Counter()
    asked = _of_folder(path, left_out) if path.is_dir() else _of_file(path, left_out)
    return Imported(tuple(asked), dict(+left_out))


def passages(path: Path) -> Iterator[Passage]:
    """The paragraphs."""
    if path.is_dir():
        yield from corpus(path)
    else:
        for name, article, paragraph in _paragraphs(path):
            yield Passage(name, article.title.replace("_", " "), paragraph.context)


def _of_file(path: Path, left_out: Counter[str]) -> Iterator[Question]:
    for name, _, paragraph in _paragraphs(path):
        for each in paragraph.qas:
            if not each.is_impossible and not each.answers:
                left_out[NO_ANSWER] += 1
                continue
            with checked(path, f"question {each.id!r}"):
                question = _of_paragraph(each, name, paragraph.context)
            yield question


def _of_paragraph(asked: _Asked, name: str, text: str) -> Question:
    if asked.is_impossible:
        return Question(id=asked.id, question=asked.question, answerable=False)
    answer = Counter(asked.answers).most_common(1)[0][0]
    evidence = Evidence(document=name, quote=around(text, answer.answer_start))
    return _answered(asked.id, asked.question, answer.text, evidence)


def _of_folder(path: Path, left_out: Counter[str]) -> Iterator[Question]:
    texts = {passage.name: passage.text for passage in corpus(path)}
    queries = either(path, "queries.jsonl")
    for each in records(queries, _Line) if queries is not None else ():
        with checked(path, f"question {each.id!r}"):
            question = _of_line(each, texts.get(each.paragraph_id, ""))
        if question is None:
            left_out[NOT_FOUND] += 1
        else:
            yield question


def _of_line(asked: _Line, text: str) -> Question | None:
    """None where its answer does not stand in its paragraph."""
    if asked.is_impossible:
        return Question(id=asked.id, question=asked.text, answerable=False)
    offset = _offset(text, asked.answers, asked.text)
    if offset < 0:
        return None
    evidence = Evidence(document=asked.paragraph_id, quote=around(text, offset))
    return _answered(asked.id, asked.text, asked.answers[0], evidence)


def _answered(name: str, question: str, answer: str, evidence: Evidence) -> Question:
    return Question(id=name, question=question, expected_answer=answer, evidence=(evidence,))


def _offset(text: str, answers: Sequence[str], question: str) -> int:
    """Where the answer stands that people marked; of several places, the one among most words of the question.

    -1 where it does not stand there.
    """
    places = [found.start() for answer in answers[:1] for found in re.finditer(re.escape(answer), text)]
    asked = words(question)
    return max(places, key=lambda place: len(asked & words(around(text, place))), default=-1)


def _paragraphs(path: Path) -> Iterator[tuple[str, _Article, _Paragraph]]:
    with checked(path):
        whole = _File.model_validate_json(content(path))
    for article in whole.data:
        for number, paragraph in enumerate(article.paragraphs):
            yield f"{article.title}#{number}", article, paragraph
