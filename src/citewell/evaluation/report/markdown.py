"""An evaluation as Markdown: its tables, and the questions that went worst. Passages are in the HTML report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.figures import HEADLINES, NONE, counted, figure, floor, setting
from citewell.evaluation.report.shape import Shape, as_shape
from citewell.evaluation.report.visible import visible

WORST = 20

_SIGNS = re.compile(r"[\\`*\[\]<>|~&#$]|(?<![^\W_])_|_(?![^\W_])")  # an underscore in a word is just that


def as_markdown(evaluated: Evaluated) -> str:
    """The figures are those of `as_shape`, rounded. No text in it is taken for Markdown."""
    report = as_shape(evaluated)
    return "\n".join((*_head(report), *_slices(report), *_measures(report), *_refusals(report), *_worst(report)))


def _head(report: Shape) -> Iterator[str]:
    testset, index, judge = report["testset"], report["index"], report["judge"]
    settings = ", ".join(f"{key} = {setting(value)}" for key, value in report["settings"].items())
    yield f"<!-- {report['made_by']} -->\n"
    yield f"# {inline(report['title'])}\n"
    yield f"- When: {report['at'][:16].replace('T', ' ')}, Citewell {inline(report['citewell'])}"
    yield (
        f"- Test set: {inline(testset['name'])}: {counted(report['slices'][0]['questions'], 'question')} scored; the "
        f"file has {testset['reviewed']} reviewed and {testset['unreviewed']} not, {testset['answerable']} with an "
        f"answer and {testset['unanswerable']} without"
    )
    yield (
        f"- Index: {counted(index['documents'], 'document')}, {counted(index['chunks'], 'passage')}, "
        f"{inline(index['embedder'])}"
    )
    yield f"- Floor: {floor(index['floor'])}"
    yield f"- Settings: {inline(settings) or 'the defaults'}"
    yield f"- Judge: {inline(judge['name'])}"
    yield from (f"  - {inline(line)}" for line in judge["agreement"])
    yield ""


def _slices(report: Shape) -> Iterator[str]:
    names = [name for name in HEADLINES if name in report["slices"][0]["measures"]]
    rows = [
        (inline(each["name"]), str(each["questions"]), *(_mean(each["measures"].get(name), name) for name in names))
        for each in report["slices"]
    ]
    yield "## By kind of question and reader\n"
    yield from _table(("questions", "", *names), rows)


def _measures(report: Shape) -> Iterator[str]:
    rows = [
        (name, *(figure(of[key], name) for key in ("mean", "low", "high")), str(of["questions"]), _failed(of))
        for name, of in report["slices"][0]["measures"].items()
    ]
    yield "## All measures, all questions\n"
    yield from _table(("measure", "mean", "95 % from", "to", "questions", "not judged"), rows)


def _refusals(report: Shape) -> Iterator[str]:
    counts = report["refusals"]
    if not any(sum(of.values()) for of in counts.values()):
        return
    rows = [
        (name, str(counts[key]["answered"]), str(counts[key]["refused"]))
        for name, key in (("has an answer", "answerable"), ("has none", "unanswerable"))
    ]
    yield "## Refusals\n"
    yield from _table(("", "answered", "refused"), rows)


def _worst(report: Shape) -> Iterator[str]:
    """Those with a problem, the least right first; at most `WORST`."""
    failed = sorted((one for one in report["questions"] if one["problems"]), key=_goodness)
    rows = [
        (inline(one["id"]), inline(one["question"]), inline(" ".join(one["problems"])), _first_rank(one))
        for one in failed[:WORST]
    ]
    yield f"## {counted(len(failed), 'question')} of {len(report['questions'])} with a problem\n"
    yield from _table(("id", "question", "problem", "evidence at rank"), rows) if rows else ("None.\n",)
    if len(failed) > WORST:
        yield f"{len(failed) - WORST} more are in the JSON and HTML reports.\n"


def _goodness(question: Shape) -> tuple[float, float, str]:
    values = question["values"]
    return values.get("correct", 0.0), values.get("nDCG@10", 0.0), question["id"]


def _first_rank(question: Shape) -> str:
    return ", ".join(str(each["rank"] or NONE) for each in question["evidence"]) or NONE


def _mean(score: Shape | None, name: str) -> str:
    if score is None or score["mean"] is None:
        return NONE
    return f"{figure(score['mean'], name)} ({figure(score['low'])}–{figure(score['high'])})"


def _failed(score: Shape) -> str:
    return ", ".join(f"{count} {why}" for why, count in score["failed"].items())


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from (f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))
    yield ""


def inline(text: str) -> str:
    """A text as one line that Markdown shows as it is, sign by sign."""
    return _SIGNS.sub(r"\\\g<0>", visible(" ".join(text.split())))
