"""`citewell testset draft | import | check`"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from citewell.cli.bench_options import TestSet, asking
from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings
from citewell.cli.terminal import complain, count, one_line, out, print_json
from citewell.errors import PathError
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from citewell.evaluation.layouts import Imported, Layout
    from citewell.evaluation.references import Finding
    from citewell.evaluation.testset import Question
    from citewell.settings import Settings
    from citewell.types import Document

app = typer.Typer(help="Make a test set, and see whether it still fits the documents.", rich_markup_mode=None)

# Written out, because the names of the layouts lie behind imports that `--help` need not wait for.
LayoutName = Literal["beir", "squad", "ragas", "csv"]

Out = Annotated[Path, typer.Option("--out", metavar="FILE", readable=False, help="The test set to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file.")]
Count = Annotated[int, typer.Option("--count", min=1, max=10_000, help="How many questions to propose.")]
Seed = Annotated[int, typer.Option("--seed", help="Another number gives other questions.")]
Source = Annotated[Path, typer.Argument(metavar="PATH", readable=False, help="A file, or the folder of a data set.")]
Format = Annotated[LayoutName | None, typer.Option("--format", help="Its layout; told by its content without this.")]


@app.command()
def draft(
    path: Out,
    number: Count = 50,
    seed: Seed = 0,
    force: Force = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Propose questions from the documents, to be reviewed."""
    _check_writable(path, force)
    loaded = load_settings(settings)
    from citewell.evaluation import drafting
    from citewell.evaluation.saved import save
    from citewell.evaluation.testset import as_lines
    from citewell.index import Index
    from citewell.models import configured

    with Index.open(at, settings=loaded) as index, asking("drafting") as on_question:
        made = drafting.draft(index, number, configured.llm(loaded.models), seed, on_question=on_question)
    if not made.questions:
        raise PathError(
            "No question could be drafted from the documents in the index.",
            remedy="Name a language model under [models]; without one, only English documents give questions.",
        )
    save(as_lines(made.questions), path)
    kinds = Counter(question.kind for question in made.questions)
    if made.unusable:
        complain(f"The language model wrote {made.unusable:,} that could not be used: no question with its quote.")
    if as_json:
        print_json(_written(path, made.questions) | {"kinds": dict(kinds), "unusable": made.unusable})
        return
    if len(made.questions) < number:
        out().print(f"The documents gave {len(made.questions):,} of {number:,} questions.")
    told = ", ".join(f"{times:,} {kind}" for kind, times in kinds.most_common())
    out().print(f"{path}: {count(len(made.questions), 'question')} ({told}), none of them reviewed.")
    out().print('Correct each, throw out what nobody would ask, and set its "reviewed" to true.')


@app.command(name="import")
def import_(
    source: Source,
    path: Out,
    layout: Format = None,
    force: Force = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Take over a test set of BEIR, SQuAD, RAGAS or CSV."""
    _check_writable(path, force)
    from citewell.evaluation.layouts import Layout, layout_of, read_layout
    from citewell.evaluation.saved import save
    from citewell.evaluation.testset import as_lines

    kind = Layout(layout) if layout else layout_of(source)
    documents = _indexed(at, load_settings(settings)) if kind is Layout.RAGAS else ()
    imported = read_layout(source, kind, documents=documents)
    save(as_lines(imported.questions), path)
    if as_json:
        print_json(_written(path, imported.questions) | {"format": str(kind), "left_out": dict(imported.left_out)})
    else:
        _print_import(path, kind, imported)


@app.command()
def check(
    testset: TestSet, at: IndexPlace = DEFAULT_INDEX, settings: SettingsFile = None, as_json: Json = False
) -> None:
    """Find evidence that is not there any more."""
    from citewell.evaluation import references
    from citewell.evaluation.testset import read_testset
    from citewell.index import Index

    questions = read_testset(testset)
    with Index.open(at, settings=load_settings(settings)) as index:
        findings = references.check(index, questions)
    if as_json:
        print_json({"version": VERSION, "questions": len(questions), "findings": [_finding(each) for each in findings]})
    else:
        _print_check(testset, len(questions), findings)
    if findings:
        raise typer.Exit(1)


def _indexed(at: str, settings: Settings) -> tuple[Document, ...]:
    from citewell.index import Index

    with Index.open(at, settings=settings) as index:
        return index.stored()


def _check_writable(path: Path, force: bool) -> None:
    """Before the work of a long run, not after."""
    from citewell.evaluation.saved import check_place

    check_place(path)
    if path.exists() and not force:
        raise PathError(f"{path} exists.", remedy="Give another --out, or overwrite it with --force.")


def _print_import(path: Path, kind: Layout, imported: Imported) -> None:
    unanswerable = sum(not question.answerable for question in imported.questions)
    drafts = sum(not question.reviewed for question in imported.questions)
    facts = [f"from {kind}"]
    facts += [f"{unanswerable:,} not answerable"] if unanswerable else []
    facts += [f"{drafts:,} not reviewed"] if drafts else []
    out().print(f"{path}: {count(len(imported.questions), 'question')} ({', '.join(facts)}).")
    for reason, times in imported.left_out.items():
        out().print(f"  left out: {times:,} {reason}")


def _print_check(path: Path, number: int, findings: tuple[Finding, ...]) -> None:
    from rich.text import Text

    screen = out()
    for each in findings:
        screen.print(Text.assemble((one_line(each.question), "bold"), f"  {each.fault}: {one_line(each.document)}"))
        screen.print(f"  {one_line(each.problem)}")
        screen.print(f"  {one_line(each.remedy)}")
    dead = len({each.question for each in findings})
    if findings:
        screen.print(f"{path}: {dead:,} of {count(number, 'question')} must be mended.")
    else:
        screen.print(f"{path}: all evidence of {count(number, 'question')} is where it should be.")


def _written(path: Path, questions: tuple[Question, ...]) -> Shape:
    return {
        "version": VERSION,
        "path": str(path),
        "questions": len(questions),
        "reviewed": sum(question.reviewed for question in questions),
    }


def _finding(each: Finding) -> Shape:
    return {
        "question": each.question,
        "fault": str(each.fault),
        "document": each.document,
        "problem": each.problem,
        "remedy": each.remedy,
        "nearest": each.nearest,
    }
