"""An endpoint that refuses some prompts stops nothing; one that refuses whatever it is asked stops the run soon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from citewell.enrichment.asking import Asking, Task, Written
from citewell.enrichment.refusals import MOST_REFUSED, Refusals
from citewell.errors import IndexingStopped, PromptRefused, ServiceRefused
from citewell.index import Index
from citewell.models.llm import Prompt
from citewell.settings import Settings
from citewell.types import FileState
from tests.enrichment.conftest import nothing_kept
from tests.enrichment.scripted_writer import ScriptedWriter, passage_of

BAD, GOOD = "forbidden", "text"


def tasks(word: str, number: int, begin: int = 0) -> list[Task]:
    made = (Prompt("rules", f"{word} {n}", 10) for n in range(begin, begin + number))
    return [Task(prompt.user, prompt, lambda reply: () if reply else None) for prompt in made]


def filtering() -> ScriptedWriter:
    """As behind a provider's filter, or, where it is only asked what is forbidden, at a wrong URL."""

    def reply(prompt: Prompt, _: int) -> str:
        if BAD in prompt.user:
            raise PromptRefused("It rejects the request.", remedy="Ask for something else.")
        return prompt.user

    return ScriptedWriter(reply)


class ScriptedRun:
    """One run, which asks about one document after another, and keeps what it gets in `kept`."""

    def __init__(self, kept: dict[str, str] | None = None, parallel: int = 1) -> None:
        self.writer = filtering()
        self.kept: dict[str, str] = {} if kept is None else kept
        self._asking = (self.writer, "m", parallel, Refusals())

    def document(self, asked: list[Task], known: Mapping[str, str] | None = None) -> list[Written]:
        return Asking(*self._asking).all(asked, known or {}, self.kept.update)


def test_a_prompt_that_is_refused_is_of_no_use_and_stops_nothing() -> None:
    run = ScriptedRun(parallel=2)
    written = run.document([*tasks(GOOD, 3), *tasks(BAD, 1), *tasks(GOOD, 6, 3)])
    assert [each.reply for each in written] == [
        *(f"text {n}" for n in range(3)),
        "",
        *(f"text {n}" for n in range(3, 9)),
    ]
    assert written[3].entries is None
    assert len(run.writer.prompts) == 10, "it is not asked again with the same words"


def test_a_second_prompt_that_is_refused_leaves_the_first_reply() -> None:
    def reply(_prompt: Prompt, tries: int) -> str:
        if tries:
            raise PromptRefused("It is too long.", remedy="Shorten it.")
        return "useless"

    task = Task("one", Prompt("rules", "text", 10), lambda _reply: None)
    (written,) = Asking(ScriptedWriter(reply), "m", 1, Refusals()).all([task], {}, nothing_kept)
    assert (written.reply, written.entries) == ("useless", None)


def test_a_document_of_one_passage_may_be_refused_and_be_the_first() -> None:
    run = ScriptedRun()
    (written,) = run.document(tasks(BAD, 1))
    assert (written.reply, written.entries) == ("", None)


@pytest.mark.parametrize("parallel", [1, 4])
def test_where_every_prompt_is_refused_the_run_stops_soon(parallel: int) -> None:
    run = ScriptedRun(parallel=parallel)
    with pytest.raises(ServiceRefused, match=r"refused 5 prompts and answered none\. It rejects the request"):
        run.document(tasks(BAD, 100))
    assert MOST_REFUSED <= len(run.writer.prompts) < MOST_REFUSED + parallel


def test_all_documents_of_a_run_are_counted_together() -> None:
    run = ScriptedRun()
    for number in range(MOST_REFUSED - 1):
        run.document(tasks(BAD, 1, number))
    with pytest.raises(ServiceRefused, match="answered none"):
        run.document(tasks(BAD, 1, MOST_REFUSED))


def test_once_anything_was_answered_no_refusal_stops_the_run() -> None:
    run = ScriptedRun(parallel=4)
    run.document(tasks(GOOD, 1))
    assert [each.reply for each in run.document(tasks(BAD, 20))] == [""] * 20


def test_what_was_refused_before_says_nothing_new() -> None:
    """Or a document, all of whose prompts are refused, would stop every run."""
    known: dict[str, str] = {}
    bad = tasks(BAD, MOST_REFUSED * 2)
    for _ in range(2):
        with pytest.raises(ServiceRefused, match="answered none"):
            ScriptedRun(known).document(bad, dict(known))
    again = ScriptedRun(known)
    assert [each.entries for each in again.document(bad, dict(known))] == [None] * len(bad)
    with pytest.raises(ServiceRefused, match="answered none"):
        again.document(tasks(BAD, MOST_REFUSED, 50))


def test_others_of_the_document_that_were_answered_in_another_run_tell_that_the_endpoint_works() -> None:
    before = ScriptedRun()
    before.document(tasks(GOOD, 1))
    run = ScriptedRun()
    edited = [*tasks(GOOD, 1), *tasks(BAD, 20)]
    assert [each.reply for each in run.document(edited, before.kept)] == ["text 0", *[""] * 20]
    with pytest.raises(ServiceRefused, match="answered none"):  # it is of that document alone that this is known
        run.document(tasks(BAD, 20, 20))


SETTINGS = Settings.model_validate(
    {
        "models": {"llm": "openai:scripted"},
        "enrichment": {"context": True, "parallel": 1},
        "retrieval": {"floor": "off"},
    }
)


def test_a_passage_that_a_filter_refuses_stops_no_later_run(tmp_path: Path) -> None:
    """In the second run it is the first that is asked about, as the only one of its document that is missing."""
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "a.md").write_text("# Bombs\n\nWhat is forbidden stands here.\n", encoding="utf-8")
    (folder / "z.md").write_text("# Loans\n\nThe rate is two percent.\n", encoding="utf-8")

    def told(prompt: Prompt, _: int) -> str:
        if BAD in passage_of(prompt):
            raise PromptRefused("It rejects the request.", remedy="Ask for something else.")
        return "It is about the rate of loans."

    Index.create(tmp_path / "index", settings=SETTINGS).close()
    with Index.open(tmp_path / "index", settings=SETTINGS, llm=ScriptedWriter(told)) as index:
        first = {Path(file.source).name: file for file in index.add(folder).files}
        assert {name: file.state for name, file in first.items()} == dict.fromkeys(("a.md", "z.md"), FileState.ADDED)
        assert "wrote nothing of use for the context of" in first["a.md"].warnings[0]
        (folder / "z.md").write_text("# Loans\n\nThe rate is three percent.\n", encoding="utf-8")
        second = {Path(file.source).name: file for file in index.add(folder).files}
        assert second["z.md"].state is FileState.UPDATED
        assert second["a.md"].warnings == first["a.md"].warnings
        assert index.search("What is forbidden here?", k=1)[0].chunk.text.endswith("forbidden stands here."), (
            "as it stands"
        )


def test_an_endpoint_that_refuses_all_stops_the_indexing(tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    folder.mkdir()
    for number in range(MOST_REFUSED + 3):
        (folder / f"{number}.md").write_text(f"# Loans {number}\n\nThe forbidden rate is {number}.\n", encoding="utf-8")
    writer = filtering()
    Index.create(tmp_path / "index", settings=SETTINGS).close()
    with Index.open(tmp_path / "index", settings=SETTINGS, llm=writer) as index:
        with pytest.raises(IndexingStopped, match=r"answered none\. It rejects the request") as caught:
            index.add(folder)
        assert "models.llm_url" in caught.value.remedy
        assert len(writer.prompts) == MOST_REFUSED
