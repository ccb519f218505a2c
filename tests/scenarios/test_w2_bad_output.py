"""W2, a model that writes bad JSON: of 30 passages it is asked for questions, and answers four of them badly."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.errors import IndexingStopped, ServiceRefused
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.loading.parsed import TextBuilder
from citewell.models.llm import Completion, Prompt
from citewell.settings import Enrichment, Loading, Settings
from citewell.stores.store import VersionKey
from citewell.types import Document, ElementKind, FileState, Trust

SETTINGS = Settings.model_validate(
    {"enrichment": {"questions": 1, "parallel": 3}, "models": {"llm": "openai:scripted"}, "retrieval": {"floor": "off"}}
)
BAD = {
    7: '```json\n["How long is form N-7 kept?",]\n```',
    12: "",
    18: "I think that people would ask how long the form is kept.",
    25: '["How long is for',
}
FAILED = {12, 18, 25}


class ScriptedLLM:
    """Answers by the number of the form in the passage. `asked` counts the calls for each; after `quota` it refuses."""

    def __init__(self, quota: int = 10_000, bad: dict[int, str] | None = None) -> None:
        self.asked: Counter[int] = Counter()
        self._quota = quota
        self._bad = BAD if bad is None else bad
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt) -> Completion:
        found = re.search(r"Form N-(\d+) lies", prompt.user)
        assert found is not None
        number = int(found[1])
        with self._lock:
            if self.asked.total() >= self._quota:
                raise ServiceRefused("The quota is exhausted.", remedy="Wait until tomorrow.")
            self.asked[number] += 1
        reply = self._bad.get(number, json.dumps([f"How long is form N-{number} kept?"]))
        return Completion(reply, 100, 10, "length" if number == 25 else "stop")


def document(numbers: range = range(1, 31)) -> Document:
    """A section for each form, each a chunk."""
    builder = TextBuilder(Loading())
    for number in numbers:
        builder.add(ElementKind.HEADING, f"Form N-{number}")
        kept = f"Form N-{number} lies in the archive for {number + 100} days, and is then destroyed."
        builder.add(ElementKind.PARAGRAPH, kept)
    parsed = builder.build("Forms")
    plain = from_text(parsed.text, source=f"bank:forms-{numbers[0]}")
    return replace(plain, elements=parsed.elements, trust=Trust.APPROVED)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    Index.create(tmp_path / "index", settings=SETTINGS).close()
    return tmp_path / "index"


def run(place: Path, llm: ScriptedLLM, *documents: Document) -> tuple[Index, str]:
    index = Index.open(place, settings=SETTINGS, llm=llm)
    report = index.add_documents(documents)
    (warning, *_) = (*(warning for file in report.files for warning in file.warnings), "")
    assert report.usage.calls == llm.asked.total()
    return index, warning


def by_question(index: Index, number: int) -> bool:
    """Whether the form is found by a question that was written for it."""
    hits = index.search(f"How long is form N-{number} kept?", k=1)
    return f"Form N-{number} " in hits[0].chunk.text and "/question-1" in hits[0].entry_id


def test_what_is_recovered_what_is_listed_and_what_is_asked_for_again(place: Path) -> None:
    llm = ScriptedLLM()
    index, warning = run(place, llm, document())
    with index:
        assert set(llm.asked) == set(range(1, 31))
        assert {number for number, times in llm.asked.items() if times > 1} == FAILED, "each once more, no other"
        assert {number for number in range(1, 31) if not by_question(index, number)} == FAILED
        ids = {number: chunk_of(index, number) for number in FAILED}
        assert all(chunk in warning for chunk in ids.values())
        (stored,) = index._store.fetch(keys(index))
        assert set(stored.replies.values()) >= {BAD[number] for number in BAD}, "the raw replies are kept"
    again = ScriptedLLM()
    index, warning = run(place, again, document())
    with index:
        assert again.asked == dict.fromkeys(FAILED, 2), "only the three"
        assert all(chunk in warning for chunk in ids.values())
    mended = ScriptedLLM(bad={})
    index, warning = run(place, mended, document())
    with index:
        assert mended.asked == dict.fromkeys(FAILED, 1)
        assert not warning
        assert all(by_question(index, number) for number in range(1, 31))
    quiet = ScriptedLLM()
    run(place, quiet, document())[0].close()
    assert not quiet.asked, "all is written"


def keys(index: Index) -> list[VersionKey]:
    return [VersionKey(one.document_id, one.number) for one in index._store.versions()]


def chunk_of(index: Index, number: int) -> str:
    (found,) = (
        chunk.id
        for document in index.documents()
        for chunk in index.chunks(document.id)
        if f"Form N-{number} lies" in chunk.text
    )
    return found


def test_a_quota_that_ends_in_the_middle_loses_nothing_that_was_paid_for(place: Path) -> None:
    """W8 for the language model."""
    first, second = document(range(1, 11)), document(range(11, 31))
    with Index.open(place, settings=SETTINGS, llm=ScriptedLLM(bad={})) as index:
        index.add_documents([first])
    short = ScriptedLLM(quota=12, bad={})
    with Index.open(place, settings=SETTINGS, llm=short) as index:
        with pytest.raises(IndexingStopped, match="quota is exhausted"):
            index.add_documents([first, second])
        assert by_question(index, 5), "what was committed is there"
    rest = ScriptedLLM(bad={})
    with Index.open(place, settings=SETTINGS, llm=rest) as index:
        report = index.add_documents([first, second])
        assert {file.source: file.state for file in report.files} == {
            "bank:forms-1": FileState.UNCHANGED,
            "bank:forms-11": FileState.ADDED,
        }
        assert all(by_question(index, number) for number in range(1, 31))
    assert short.asked.total() == 12
    assert sorted([*short.asked, *rest.asked]) == list(range(11, 31)), "nothing is asked for twice"


def test_what_was_written_goes_with_its_passage(place: Path) -> None:
    """W11 for what a language model wrote."""
    with Index.open(place, settings=SETTINGS, llm=ScriptedLLM(bad={})) as index:
        index.add_documents([document(range(1, 4))])
        index.delete("bank:forms-1")
        assert index.search("How long is form N-2 kept?") == ()
        index.rollback("bank:forms-1")
        assert by_question(index, 2)
        index.purge("bank:forms-1")
    files = [file for file in place.rglob("*") if file.is_file()]
    assert not [file for file in files if b"How long is form" in file.read_bytes()]


def test_a_run_without_the_switch_forgets_nothing_that_was_paid_for(place: Path) -> None:
    forms = document(range(1, 4))
    with Index.open(place, settings=SETTINGS, llm=ScriptedLLM(bad={})) as index:
        index.add_documents([forms])
    with Index.open(place) as plain:
        plain.add_documents([forms])
        assert not by_question(plain, 2)
    quiet = ScriptedLLM(bad={})
    with Index.open(place, settings=SETTINGS, llm=quiet) as index:
        index.add_documents([forms])
        assert by_question(index, 2)
    assert not quiet.asked


def test_what_is_written_later_is_a_change_that_others_see(place: Path) -> None:
    """A generation beside the index is brought up to date by what changed: also where something is still unwritten."""
    with Index.open(place, settings=SETTINGS, llm=ScriptedLLM()) as index:
        index.add_documents([document()])
        before = recipe_of(index)
    with Index.open(place, settings=SETTINGS, llm=ScriptedLLM(bad={25: BAD[25]})) as index:
        index.add_documents([document()])
        assert recipe_of(index) != before
        assert by_question(index, 12)
        after = recipe_of(index)
    with Index.open(place, settings=SETTINGS, llm=ScriptedLLM(bad={25: BAD[25]})) as index:
        index.add_documents([document()])
        assert recipe_of(index) == after, "nothing more was written"


def recipe_of(index: Index) -> str:
    (line,) = index._store.ledger().values()
    return line.recipe


def test_a_file_that_has_another_name_still_says_what_is_unwritten(place: Path, tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"enrichment": Enrichment(context=True)})
    folder = tmp_path / "forms"
    folder.mkdir()
    (folder / "form.md").write_text("# Form N-1\n\nForm N-1 lies in the archive for 101 days.\n", encoding="utf-8")
    with Index.open(place, settings=settings, llm=ScriptedLLM(bad={1: ""})) as index:
        index.add(folder)
        (folder / "form.md").rename(folder / "renamed.md")
        (report,) = index.add(folder).files
    assert report.state is FileState.RENAMED
    assert "the context of" in report.warnings[0]
