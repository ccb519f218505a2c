"""The options of the commands that put a test set to an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import words
from citewell.cli.progress import stepwise
from citewell.cli.terminal import complain, count

if TYPE_CHECKING:
    from citewell.evaluation.testset import Question

DEFAULT_WORKBENCH = Path(".citewell-bench")

TestSet = Annotated[
    Path, typer.Argument(metavar="TESTSET", readable=False, help="Questions, a JSON object a line (docs/testsets.md).")
]
JudgeName = Annotated[
    str,
    typer.Option("--judge", metavar="NAME", parser=words, help="Who judges answers: aligned, llm or nli:FOLDER."),
]
WorkbenchFolder = Annotated[
    Path,
    typer.Option(
        "--workbench",
        metavar="DIR",
        readable=False,
        help="Where indexes built for a comparison and what models wrote are kept.",
    ),
]
RetrievalOnly = Annotated[bool, typer.Option("--retrieval-only", help="Measure what is found, without answers.")]


def read_questions(path: Path) -> tuple[Question, ...]:
    """The questions to score: reviewed ones, or the drafts where there is nothing else, and it says so."""
    from citewell.evaluation.testset import read_testset, to_score

    questions = read_testset(path)
    chosen = to_score(questions)
    drafts = sum(not question.reviewed for question in questions)
    if drafts:
        left_out = "left out" if len(chosen) < len(questions) else "scored alone: nobody has reviewed them"
        complain(f"{path} holds {count(drafts, 'draft')}, {left_out}.")
    return chosen


@contextmanager
def asking(label: str) -> Iterator[Callable[[int, int], None]]:
    """Draw a bar while questions are asked, and let Ctrl-C end it between two of them."""
    with stepwise(label) as step:
        yield lambda done, total: step(done, total, label)
