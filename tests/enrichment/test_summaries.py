"""What is read of a document for its summary."""

from __future__ import annotations

from dataclasses import replace

from citewell.enrichment import Enriched, Enricher, tasks
from citewell.enrichment.summaries import TEXT_CHARS
from citewell.enrichment.surroundings import Surroundings
from citewell.models.minilm import MiniLM
from citewell.settings import Enrichment
from citewell.types import ElementKind
from tests.enrichment.conftest import LONG, Cut, Manual, nothing_kept
from tests.enrichment.scripted_writer import ScriptedWriter, passage_of

ON = Enrichment(summaries=True)


def test_a_document_of_one_passage_has_none(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    document, writer = manual([LONG]), ScriptedWriter(lambda *_: "It is about a note.")
    chunked = cut(document)
    assert Enricher(writer, "m", ON, embedder).enrich(document, chunked, {}, nothing_kept) == Enriched(
        chunked.entries, {}, ()
    )


def test_a_short_document_is_shown_whole(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    document = manual([LONG, f"{LONG} Twice."])
    (task,) = tasks(document, cut(document), ON, embedder)
    assert passage_of(task.prompt) == document.text


def test_of_a_long_one_the_beginning_of_each_section(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    texts = [f"Number {number} begins. {f'{LONG} ' * 20}" for number in range(10)]
    texts[3] = "Number 3 begins. It is short."
    document = manual(texts)
    chunked = cut(document)
    (task,) = tasks(document, chunked, ON, embedder)
    shown = passage_of(task.prompt)
    assert all(f"Number {number} begins." in shown for number in range(10))
    assert "It is short." in shown
    assert TEXT_CHARS * 0.85 < len(shown) <= TEXT_CHARS + 10 * 2
    (entry,) = task.entries("It is about a note that is signed.") or ()
    begins = {chunk.id for chunk in chunked.chunks if chunk.text.startswith("Section of")}
    assert len(begins) == 10
    assert begins < set(entry.derived_from) < {chunk.id for chunk in chunked.chunks}


def test_of_too_many_sections_some_that_lie_evenly_apart(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    document = manual([f"Number {number} begins. {LONG}" for number in range(200)])
    (task,) = tasks(document, cut(document), ON, embedder)
    shown = passage_of(task.prompt)
    seen = [number for number in range(200) if f"Number {number} begins." in shown]
    assert len(shown) <= TEXT_CHARS + 200
    assert seen == [*range(0, 200, 4)]
    assert len(task.prompt.user) < TEXT_CHARS + 3_000


def test_the_outline_is_as_deep_as_there_is_room(manual: Manual, cut: Cut) -> None:
    document = manual([LONG] * 30)
    headings = [each for each in document.elements if each.kind is ElementKind.HEADING]
    deep = {each.start: (f"Chapter {n // 10}", f"Section {n}")[: 1 + (n % 10 > 0)] for n, each in enumerate(headings)}
    elements = tuple(replace(each, heading_path=deep.get(each.start, ())) for each in document.elements)
    around = Surroundings.of(replace(document, elements=elements), cut(document), "cut")
    assert around.outline(2_000).splitlines()[:3] == ["Chapter 0", "  Section 1", "  Section 2"]
    assert len(around.outline(2_000).splitlines()) == 30
    assert around.outline(100) == "Chapter 0\nChapter 1\nChapter 2"
    assert around.outline(25) == "Chapter 0\nChapter 1"
