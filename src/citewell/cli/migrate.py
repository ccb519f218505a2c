"""`citewell migrate`"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, IndexPlace, Json, SettingsFile, load_settings, words
from citewell.cli.progress import shown
from citewell.cli.terminal import complain, count, one_line, out, print_json
from citewell.shapes import VERSION, Shape

if TYPE_CHECKING:
    from citewell.migration import Gate, Measure, Migration
    from citewell.settings import Models, Settings

NewEmbedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        parser=words,
        help="The model to move to; without it, the one that the settings name.",
    ),
]
TestSet = Annotated[
    Path | None,
    typer.Option(
        "--gate", metavar="TESTSET", readable=False, help="Switch only if it finds no less on these questions."
    ),
]
Rollback = Annotated[bool, typer.Option("--rollback", help="Go back to the generation before.")]


def migrate(
    embedder: NewEmbedder = None,
    testset: TestSet = None,
    rollback: Rollback = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Move the index to another embedding model, beside the running one, or back."""
    if rollback and (embedder or testset):
        raise typer.BadParameter("--rollback goes back to what there was; it takes no --embedder and no --gate.")
    loaded = load_settings(settings)
    gate = _gate(testset, loaded) if testset else None  # a wrong file is refused before anything else
    from citewell.index import Index

    with Index.open(at, settings=loaded) as index, shown("documents") as on_progress:
        if rollback:
            done = index.migrate_back(on_progress=on_progress)
        else:
            done = index.migrate(embedder, gate=gate, on_progress=on_progress)
    for warning in done.warnings:
        complain(warning)
    lines = _to_set(loaded.models, done)
    if as_json:
        print_json(_shape(done, lines))
    else:
        _print(done, lines)


def _gate(testset: Path, settings: Settings) -> Gate:
    from citewell.evaluation.gate import gate
    from citewell.evaluation.testset import retrieval_questions

    return gate(retrieval_questions(testset), settings.retrieval)


def _to_set(now: Models, done: Migration) -> dict[str, str | int]:
    """The keys of [models] that must change for the index to be opened."""
    values = done.models.model_dump() | ({} if done.sparse else {"sparse": "none"})
    return {key: values[key] for key, value in now.model_dump().items() if value != values[key]}


def _print(done: Migration, lines: Mapping[str, str | int]) -> None:
    name = one_line(f"{done.embedder.name} ({done.embedder.dimensions} dimensions)")
    if done.carried is None:
        out().print(f"The index was made with {name} already: generation {done.generation}.")
    else:
        versions, texts = count(done.carried.put, "version"), count(done.carried.embedded, "text")
        out().print(
            f"Generation {done.generation}, made with {name}, is the index now: {versions} carried over, {texts} "
            f"embedded in {done.seconds:.1f} s."
        )
    if done.sparse != done.sparse_before:
        out().print(_of_sparse(done.sparse_before, done.sparse))
    if done.comparison is not None:
        out().print(f"On {count(done.comparison.questions, 'question')}:")
        for measure in done.comparison.measures:
            out().print(f"  {measure}")
    if lines:
        out().print("Set in citewell.toml, under [models], or the index will not open:")
        for key, value in lines.items():
            out().print(f"  {key} = {one_line(json.dumps(value, ensure_ascii=False))}")
    if done.previous is not None:
        out().print(f"Generation {done.previous} is kept; `citewell migrate --rollback` goes back to it.")


def _of_sparse(before: str, now: str) -> str:
    """What became of the sparse vectors."""
    if not before:
        return f"It has sparse vectors now, made with {now}."
    if not now:
        return f"It has no sparse vectors any more; those of before were made with {before}."
    return f"Its sparse vectors are made with {now} now; those of before were with {before}."


def _shape(done: Migration, lines: Mapping[str, str | int]) -> Shape:
    carried, comparison = done.carried, done.comparison
    return {
        "version": VERSION,
        "generation": done.generation,
        "previous": done.previous,
        "embedder": done.embedder.name,
        "dimensions": done.embedder.dimensions,
        "carried": carried.put if carried is not None else 0,
        "dropped": carried.dropped if carried is not None else 0,
        "embedded": carried.embedded if carried is not None else 0,
        "seconds": done.seconds,
        "warnings": list(done.warnings),
        "gate": {
            "questions": comparison.questions,
            "measures": [_measure(measure) for measure in comparison.measures],
        }
        if comparison is not None
        else None,
        "settings": dict(lines),
        "sparse": done.sparse or None,
        "sparse_before": done.sparse_before or None,
    }


def _measure(measure: Measure) -> Shape:
    return {
        "name": measure.name,
        "before": measure.before,
        "after": measure.after,
        "difference": measure.difference,
        "low": measure.low,
        "high": measure.high,
    }
