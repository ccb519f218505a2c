"""Whatever happens to the files of a folder and to the index: nobody ever sees a text that the rules keep from him.

A version is never readable by more than could read it when it was last taken in, nor by more than may read its document
now. A few short stories by default; `CITEWELL_RIGHTS_EXAMPLES=300` tries so many, and longer ones.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from citewell import Index, Principal, Settings
from citewell.errors import PathError, UnknownId
from citewell.models.encoding import Encoders
from citewell.models.fingerprint import canaries
from citewell.models.token_vectors import CODEC
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.stores.folder import FolderHome
from citewell.stores.store import MadeWith
from citewell.types import EVERYONE, Chunk, Document
from tests.clock import at
from tests.remembering_embedder import remembering

EXAMPLES = int(os.environ.get("CITEWELL_RIGHTS_EXAMPLES", "2"))
STEPS = 6 if EXAMPLES < 10 else 14

NAMES = ("a.md", "b.md", "below/a.md")
READERS = [Principal("x", frozenset(groups)) for groups in ((), ("a",), ("b",))]
MARKER = re.compile(r"zebra\d+")

names = st.sampled_from(NAMES)
groups = st.sampled_from([(EVERYONE,), ("a",), ("b",), ("a", "b"), ()]).map(frozenset)


picks = st.integers(0, 5)

T = TypeVar("T", str, int)


def picked(some: Iterable[T], which: int) -> T:
    among = sorted(some)
    return among[which % len(among)]


@dataclass(frozen=True, slots=True)
class File:
    """The word that stands in no other version, and who may read by the rules."""

    marker: str
    groups: frozenset[str]


def may_read(reader: Principal, readers: frozenset[str]) -> bool:
    return not readers.isdisjoint(reader.readable)


class Story(RuleBasedStateMachine):
    """`taken` is what the files held at the last run, `granted` who could read each text in each place when it was
    taken in last, `aside` what a file holds that is not taken in again, `certain` which documents are as their files.
    """

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.root = Path(self._folder.name) / "files"
        self.root.mkdir()
        tree = Settings.model_validate({"chunking": {"summaries": True, "parents": 100}})
        embedder = remembering()
        home = FolderHome(Path(self._folder.name) / "index", tree.storage)
        home.create(MadeWith(embedder.identity, canaries(embedder), ANALYSER_VERSION, CODEC))
        self.index = Index(home, Encoders(embedder), tree)
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)
        self.days = [self.now.date()]
        self.written = 0
        self.files: dict[str, File] = {}
        self.taken: dict[str, File] = {}
        self.granted: dict[tuple[str, str], frozenset[str]] = {}
        self.aside: dict[str, str] = {}
        self.certain: set[str] = set()

    def teardown(self) -> None:
        self.index.close()
        self._folder.cleanup()

    # The files

    @rule(name=names, readers=groups)
    def write(self, name: str, readers: frozenset[str]) -> None:
        self.written += 1
        self._next_day()
        self._save(name, File(f"zebra{self.written}", readers))
        self.run()

    @precondition(lambda self: self.files)
    @rule(which=picks, readers=groups)
    def retag(self, which: int, readers: frozenset[str]) -> None:
        name = picked(self.files, which)
        self._save(name, replace(self.files[name], groups=readers))
        self.run()

    @precondition(lambda self: self.files and self._free())
    @rule(which=picks, to=picks, readers=groups)
    def rename(self, which: int, to: int, readers: frozenset[str]) -> None:
        old, new = picked(self.files, which), picked(self._free(), to)
        self._save(new, replace(self._unlink(old), groups=readers))
        if old in self.taken and self.aside.get(old) is None and self.taken[old].marker == self.files[new].marker:
            moved = {place: readers for place, readers in self.granted.items() if place[0] == old}
            self.granted = {place: of for place, of in self.granted.items() if place[0] != old}
            self.granted |= {(new, marker): readers for (_, marker), readers in moved.items()}
        self.run()

    @precondition(lambda self: self.files)
    @rule(which=picks)
    def remove(self, which: int) -> None:
        self._unlink(picked(self.files, which))
        self.run()

    @rule(days=st.integers(1, 40))
    def wait(self, days: int) -> None:
        self._next_day(days)

    @rule()
    def run(self) -> None:
        with at(self.now):
            try:
                self.index.add(self.root)
            except PathError:
                assert not self.files, "there is nothing to index, and nothing was"
        self.aside = {name: marker for name, marker in self.aside.items() if name in self.files}
        for name, file in self.files.items():
            if self.aside.get(name) != file.marker:
                self.aside.pop(name, None)
                self.granted[name, file.marker] = file.groups
        self.taken = dict(self.files)
        self.certain = set(self.files) - self.aside.keys()

    # The index

    @rule(name=names)
    def delete(self, name: str) -> None:
        with self._unless_unknown():
            self.index.delete(str(self.root / name))
        self.certain.discard(name)
        self.aside.pop(name, None)

    @rule(name=names, which=picks)
    def roll_back(self, name: str, which: int) -> None:
        with self._unless_unknown():
            versions = self.index.history(str(self.root / name))
            earlier = [one.number for one in versions if not one.current]
            if earlier:
                self.index.rollback(str(self.root / name), picked(earlier, which))
                self._goes_back(name, current=any(one.current for one in versions))

    @rule()
    def name_a_state(self) -> None:
        with at(self.now):
            self.index.name_state(f"state {len(self.index.states())}")

    @precondition(lambda self: self.index.states())
    @rule(which=picks)
    def roll_all_back(self, which: int) -> None:
        current = {document.source for document in self.index._store.ledger().values()}
        with at(self.now):
            reports = self.index.rollback_to(picked(self.index.states(), which))
        for report in reports:
            name = report.source.removeprefix(self.root.as_uri() + "/")
            self._goes_back(name, current=report.source in current)

    @rule(name=names)
    def purge(self, name: str) -> None:
        with self._unless_unknown():
            self.index.purge(str(self.root / name))
            self.granted = {place: readers for place, readers in self.granted.items() if place[0] != name}
        self.certain.discard(name)
        self.aside.pop(name, None)

    # What is seen

    @invariant()
    def look(self) -> None:
        """Nobody sees what he may not, and everybody what he may."""
        for reader in READERS:
            for day in self.days[-3:]:
                seen = self._seen(reader, day)
                for name, marker in seen:
                    assert may_read(reader, self.granted[name, marker]), (name, marker)
                    if name in self.taken:
                        assert may_read(reader, self.taken[name].groups), (name, marker, "now")
            for name in self.certain:
                file = self.taken[name]
                assert ((name, file.marker) in seen) == may_read(reader, file.groups), (name, file)

    def _seen(self, reader: Principal, day: date) -> set[tuple[str, str]]:
        """The markers in all that a reader can get on a day, with the name of the document each was got from."""
        index = self.index
        got: list[Chunk | Document] = []
        for hit in index.search("Which animal stands in the note?", k=500, principal=reader, as_of=day):
            got += [hit.chunk, hit.passage, index.show(hit.chunk.id, principal=reader)]
        for document in index.documents(principal=reader, as_of=day):
            got += [document, index.show(document.id, principal=reader, as_of=day)]
            got += index.chunks(document.id, principal=reader, as_of=day)
        return {
            (one.source.removeprefix(self.root.as_uri() + "/"), marker)
            for one in got
            for marker in MARKER.findall(f"{one.title} {one.text}")
        }

    def _next_day(self, days: int = 1) -> None:
        self.now += timedelta(days=days)
        self.days.append(self.now.date())

    def _save(self, name: str, file: File) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Note {file.marker}\n\nThe animal is {file.marker}.\n\n## More\n\nIt is striped.\n")
        path.with_name(f"{path.name}.citewell.toml").write_text(f"groups = {json.dumps(sorted(file.groups))}\n")
        self.files[name] = file

    def _unlink(self, name: str) -> File:
        (self.root / name).unlink()
        (self.root / f"{name}.citewell.toml").unlink()
        return self.files.pop(name)

    def _free(self) -> list[str]:
        return [name for name in NAMES if name not in self.files and name not in self.taken]

    def _goes_back(self, name: str, *, current: bool) -> None:
        self.certain.discard(name)
        if current and name in self.taken:
            self.aside.setdefault(name, self.taken[name].marker)

    @contextmanager
    def _unless_unknown(self) -> Iterator[None]:
        with at(self.now), suppress(UnknownId):
            yield


@pytest.fixture
def story() -> Iterator[Story]:
    story = Story()
    yield story
    story.teardown()


A, ALL = frozenset("a"), frozenset({EVERYONE})


@pytest.mark.parametrize("then", ["run", "retag", "break"])
def test_what_is_brought_back_is_not_opened_by_the_rules_of_what_the_file_holds(story: Story, then: str) -> None:
    """The redacted version is for everyone; the one before was not, and is not when it is the newest again."""
    story.write("a.md", A)
    story.write("a.md", ALL)
    story.roll_back("a.md", 0)
    story.look()
    if then == "retag":
        story.retag(0, frozenset("ab"))
        story.look()
        story.retag(0, ALL)
    elif then == "break":
        (story.root / "a.md").write_bytes(b"%PDF-1.7 broken")
    story.wait(1)
    story.run()
    story.look()


def test_what_is_brought_back_is_shut_by_the_rules_of_its_file(story: Story) -> None:
    story.write("a.md", ALL)
    story.write("a.md", ALL)
    story.roll_back("a.md", 0)
    story.retag(0, A)
    story.look()


def test_what_is_brought_back_is_the_files_again_when_the_file_holds_it(story: Story) -> None:
    story.write("a.md", A)
    first = story.files["a.md"]
    story.write("a.md", ALL)
    story.roll_back("a.md", 0)
    story._save("a.md", replace(first, groups=ALL))
    story.run()
    story.look()
    assert story.certain == {"a.md"}


def test_a_file_that_held_what_was_brought_back_and_then_the_other_again_has_changed(story: Story) -> None:
    story.write("a.md", ALL)
    first = story.files["a.md"]
    story.write("a.md", ALL)
    second = story.files["a.md"]
    story.roll_back("a.md", 0)
    story._save("a.md", first)
    story.run()
    story._save("a.md", second)
    story.run()
    story.look()
    assert story.certain == {"a.md"}


def test_what_was_deleted_and_brought_back_goes_with_its_file(story: Story) -> None:
    """Its file was there all the time."""
    story.write("a.md", ALL)
    story.write("b.md", ALL)
    story.delete("a.md")
    story.roll_back("a.md", 0)
    story.run()
    story.look()
    assert "a.md" in story.certain
    story.remove(0)
    assert [document.source.rpartition("/")[2] for document in story.index.documents()] == ["b.md"]


TestStory = Story.TestCase
TestStory.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, suppress_health_check=list(HealthCheck)
)
