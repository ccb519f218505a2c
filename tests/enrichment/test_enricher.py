"""A document's entries with what a language model wrote of it; W2 and W8 for the index side."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from citewell.chunking import chunk
from citewell.enrichment import CONTEXT_TOKENS, Enriched, Enricher
from citewell.errors import ServiceError, ServiceUnreachable
from citewell.loading.parsed import Details, TextBuilder
from citewell.models.llm import Prompt
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking, Enrichment, Loading
from citewell.types import Document, ElementKind, EntryKind, Rights, Trust
from tests.enrichment.conftest import LONG, Cut, Manual, nothing_kept
from tests.enrichment.scripted_writer import Reply, ScriptedWriter, passage_of

ALL = Enrichment(context=True, questions=2, summaries=True, parallel=4)
CONTEXT = "It belongs to the manual of cards."
QUESTIONS = ["Who signs the note of the branch?", "What is read out to the customer?"]


def kind_of(prompt: Prompt) -> str:
    return "questions" if "JSON array" in prompt.system else "context" if "<passage-" in prompt.user else "summary"


def well(prompt: Prompt, _: int) -> str:
    return json.dumps(QUESTIONS) if kind_of(prompt) == "questions" else CONTEXT


@pytest.fixture
def document(manual: Manual) -> Document:
    return manual([f"The card number {number} is made of paper. {LONG}" for number in range(30)])


def enricher(writer: ScriptedWriter, embedder: MiniLM, settings: Enrichment = ALL, model: str = "m") -> Enricher:
    return Enricher(writer, model, settings, embedder)


def test_every_passage_gets_its_context_its_questions_and_the_document_its_summary(
    document: Document, cut: Cut, embedder: MiniLM
) -> None:
    chunked = cut(document)
    assert len(chunked.entries) == 30
    made = enricher(ScriptedWriter(well), embedder).enrich(document, chunked, {}, nothing_kept)
    kinds = [entry.kind for entry in made.entries]
    assert kinds == [EntryKind.CONTEXT] * 30 + [EntryKind.QUESTION] * 60 + [EntryKind.SUMMARY]
    assert made.unwritten == ()
    assert len(made.replies) == 61
    plain = chunked.entries[3]
    assert made.entries[3].text == f"{CONTEXT}\n{plain.text}"
    assert made.entries[3].id == f"{plain.chunk_id}/context"
    ids = [entry.id for entry in made.entries]
    assert len(set(ids)) == len(ids)
    assert ids[30:32] == [f"{chunked.entries[0].chunk_id}/question-{n}" for n in (1, 2)]
    assert [entry.text for entry in made.entries[30:32]] == QUESTIONS
    assert made.entries[-1].text == f"Manual of cards\n{CONTEXT}"
    assert made.entries[-1].id == f"{chunked.entries[0].chunk_id}/summary-model"


def test_what_is_written_has_the_rights_of_the_document_and_says_of_what_it_is_derived(
    document: Document, cut: Cut, embedder: MiniLM
) -> None:
    chunked = cut(document)
    writer = ScriptedWriter(well)
    made = enricher(writer, embedder).enrich(document, chunked, {}, nothing_kept)
    known = {chunk.id: chunk for chunk in chunked.chunks}
    for entry in made.entries:
        assert entry.document_id == document.id
        assert entry.rights == document.rights == Rights.intersection(known[id_].rights for id_ in entry.derived_from)
        assert entry.derived_from[0] == entry.chunk_id
        assert len(set(entry.derived_from)) == len(entry.derived_from)
    context = made.entries[15]
    prompt = next(each for each in writer.prompts if "number 15 " in passage_of(each) and kind_of(each) == "context")
    window = prompt.user.partition("</section")[2]
    shown = {int(number) for number in re.findall(r"(?:number|Section of \w+) (\d+)", window)}
    assert 10 < len(shown) < 30
    assert {int(id_.rpartition("#")[2]) for id_ in context.derived_from} == shown
    assert all(entry.derived_from == (entry.chunk_id,) for entry in made.entries if entry.kind is EntryKind.QUESTION)


@pytest.mark.parametrize("trust", [Trust.UNREVIEWED, Trust.UNTRUSTED])
def test_only_an_approved_document_is_asked_for_questions(
    manual: Manual, cut: Cut, embedder: MiniLM, trust: Trust
) -> None:
    document, writer = manual([LONG, LONG], trust=trust), ScriptedWriter(well)
    made = enricher(writer, embedder).enrich(document, cut(document), {}, nothing_kept)
    assert {kind_of(prompt) for prompt in writer.prompts} == {"context", "summary"}
    assert EntryKind.QUESTION not in {entry.kind for entry in made.entries}
    assert made.unwritten == ()


def test_nothing_is_asked_where_nothing_is_on(document: Document, cut: Cut, embedder: MiniLM) -> None:
    writer, chunked = ScriptedWriter(well), cut(document)
    made = enricher(writer, embedder, Enrichment()).enrich(document, chunked, {}, nothing_kept)
    assert made == Enriched(chunked.entries, {}, ())
    assert writer.prompts == []


# W2. Passage 7 comes in a fence, with a comma too many; the others are of no use, also when asked again.
BAD: dict[str, dict[int, str]] = {
    "questions": {
        7: '```json\n["Who signs the note?", "What is read out?",]\n```',
        12: "",
        18: "The passage is about what a branch does with a note, which matters to customers.",
        25: '["Who signs the no',
    },
    "context": {
        7: f"```\n{CONTEXT}\n```",
        12: "",
        18: "I'm sorry, but I cannot write of this passage.",
        25: "It belongs to the part of the manual that",
    },
}


def spoiled(kind: str) -> Reply:
    def reply(prompt: Prompt, tries: int) -> str:
        number = next(n for n in range(30) if f"number {n} " in passage_of(prompt))
        return BAD[kind].get(number) if number in BAD[kind] else well(prompt, tries)  # type: ignore[return-value]

    return reply


@pytest.mark.parametrize("kind", ["questions", "context"])
def test_replies_of_no_use_are_asked_for_again_and_listed(
    document: Document, cut: Cut, embedder: MiniLM, kind: str
) -> None:
    settings = Enrichment(questions=2) if kind == "questions" else Enrichment(context=True)
    chunked, writer, kept = cut(document), ScriptedWriter(spoiled(kind)), dict[str, str]()
    made = enricher(writer, embedder, settings).enrich(document, chunked, {}, kept.update)
    ids = [chunked.entries[number].chunk_id for number in (12, 18, 25)]
    assert made.unwritten == tuple(f"the {kind} of {id_}" for id_ in ids)
    assert [writer.asked(f"number {number} ") for number in (7, 12, 18, 25, 29)] == [1, 2, 2, 2, 1]
    assert len(writer.prompts) == 33
    assert kept == made.replies
    assert len(kept) == 30
    assert {reply for reply in made.replies.values() if reply in BAD[kind].values()} == set(BAD[kind].values())
    written = {entry.chunk_id for entry in made.entries if entry.kind is not EntryKind.CHUNK}
    assert len(written) == 27
    assert written.isdisjoint(ids)
    if kind == "context":  # they are searched by their own words
        assert [made.entries[number] for number in (12, 18, 25)] == [chunked.entries[n] for n in (12, 18, 25)]

    mended = ScriptedWriter(well)
    again = enricher(mended, embedder, settings).enrich(document, chunked, made.replies, kept.update)
    assert sorted(passage_of(prompt).split("number ")[1][:2] for prompt in mended.prompts) == ["12", "18", "25"]
    assert again.unwritten == ()
    assert again.replies == kept
    assert len({entry.chunk_id for entry in again.entries if entry.kind is not EntryKind.CHUNK}) == 30


def test_what_is_of_use_the_second_time_is_kept(document: Document, cut: Cut, embedder: MiniLM) -> None:
    writer, kept = ScriptedWriter(lambda prompt, tries: well(prompt, 0) if tries else ""), dict[str, str]()
    made = enricher(writer, embedder, Enrichment(context=True)).enrich(document, cut(document), {}, kept.update)
    assert len(writer.prompts) == 60
    first, second = sorted((each.user for each in writer.prompts if "number 4 " in passage_of(each)), key=len)
    assert second.startswith(first)
    assert second != first
    assert made.unwritten == ()
    assert set(kept.values()) == {CONTEXT}


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_failing_endpoint_stops_the_calls_and_loses_none(
    document: Document, cut: Cut, embedder: MiniLM, parallel: int
) -> None:
    """W8."""
    settings, chunked = Enrichment(context=True, parallel=parallel), cut(document)
    kept: dict[str, str] = {}
    calls = itertools.count(1)

    def exhausted(prompt: Prompt, tries: int) -> str:
        if next(calls) > 20:
            raise ServiceUnreachable("too many requests", remedy="Try again later.")
        return well(prompt, tries)

    writer = ScriptedWriter(exhausted)
    with pytest.raises(ServiceError, match="too many requests"):
        enricher(writer, embedder, settings).enrich(document, chunked, {}, kept.update)
    assert len(kept) == 20
    assert 21 <= len(writer.prompts) <= 20 + parallel  # no call is begun after the failure

    rest = ScriptedWriter(well)
    made = enricher(rest, embedder, settings).enrich(document, chunked, kept, kept.update)
    assert len(rest.prompts) == 10
    assert made.replies == kept
    assert {entry.kind for entry in made.entries} == {EntryKind.CONTEXT}

    never = ScriptedWriter(well)
    assert enricher(never, embedder, settings).enrich(document, chunked, kept, nothing_kept) == made
    assert never.prompts == []


def test_the_result_does_not_depend_on_which_call_ends_first(document: Document, cut: Cut, embedder: MiniLM) -> None:
    chunked, rng = cut(document), random.Random(5)
    made = []
    for parallel in (1, 8):
        writer = ScriptedWriter(spoiled("context"), iter(lambda: rng.uniform(0, 0.004), None))
        settings = Enrichment(context=True, summaries=False, parallel=parallel)
        made.append(enricher(writer, embedder, settings).enrich(document, chunked, {}, nothing_kept))
        assert writer.most <= parallel
    assert made[0] == made[1]
    assert [*made[0].replies] == [*made[1].replies]


def test_another_model_is_asked_anew_and_old_replies_are_left_behind(
    manual: Manual, cut: Cut, embedder: MiniLM
) -> None:
    document = manual([LONG, f"{LONG} Twice."])
    made = enricher(ScriptedWriter(well), embedder).enrich(document, cut(document), {}, nothing_kept)
    other = ScriptedWriter(well)
    again = enricher(other, embedder, model="n").enrich(document, cut(document), made.replies, nothing_kept)
    assert len(other.prompts) == len(made.replies) == 5
    assert again.replies.keys().isdisjoint(made.replies)


def test_an_edit_far_away_is_not_paid_for_and_nothing_of_the_old_sentence_stays(
    manual: Manual, cut: Cut, embedder: MiniLM
) -> None:
    """W11: what was written of the old sentence is in no entry, and in no reply that is kept with the document."""

    def told(prompt: Prompt, _: int) -> str:
        secret = "heron" in passage_of(prompt)
        if kind_of(prompt) == "questions":
            return '["Which bird is the heron?"]' if secret else json.dumps(QUESTIONS)
        return "It tells of the heron." if secret else CONTEXT

    texts = [f"The card number {number} is made of paper. {LONG}" for number in range(40)]
    before = manual([*texts[:39], f"The bird is a heron. {LONG}"])
    after = manual([*texts[:39], f"The bird is gone. {LONG}"])
    made = enricher(ScriptedWriter(told), embedder).enrich(before, cut(before), {}, nothing_kept)
    assert sum("heron" in entry.text for entry in made.entries) >= 2
    writer = ScriptedWriter(told)
    again = enricher(writer, embedder).enrich(after, cut(after), made.replies, nothing_kept)
    touched = {next((n for n in range(40) if f"number {n} " in passage_of(each)), 39) for each in writer.prompts[:-1]}
    assert touched <= set(range(30, 40))  # those whose window shows it
    assert len(writer.prompts) <= 10 + 1 + 1
    assert not any("heron" in text for text in (*(entry.text for entry in again.entries), *again.replies.values()))


def test_no_text_is_longer_than_the_embedder_reads(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    sentence = "This passage of the manual says at length what a branch does with a note that was signed by somebody. "
    document = manual([f"{LONG} " * 40, LONG])
    chunked = cut(document, size=240 - CONTEXT_TOKENS)
    writer = ScriptedWriter(
        lambda prompt, _: json.dumps(QUESTIONS) if kind_of(prompt) == "questions" else sentence * 30
    )
    made = enricher(writer, embedder).enrich(document, chunked, {}, nothing_kept)
    lengths = {entry.id: len(embedder.token_spans(entry.text)) for entry in made.entries}
    assert max(lengths.values()) <= embedder.identity.max_tokens - 2
    plain = {entry.chunk_id: len(embedder.token_spans(entry.text)) for entry in chunked.entries}
    for entry in made.entries:
        if entry.kind is EntryKind.CONTEXT:
            assert 16 <= lengths[entry.id] - plain[entry.chunk_id] <= CONTEXT_TOKENS
    assert max(lengths.values()) > 240 - CONTEXT_TOKENS
    assert lengths[made.entries[-1].id] > 200  # the summary takes the room that there is


def test_a_row_too_long_for_a_context_is_left_as_it_is(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    builder = TextBuilder(Loading())
    endless = f"{' '.join([LONG] * 10)} It is kept for ten years."
    rows = ["Card | Note", f"Debit | {LONG}", f"Credit | {endless}", f"Business | {LONG}"]
    builder.add(ElementKind.TABLE, "\n".join(rows), more=Details(header_rows=1))
    parsed = builder.build("Cards")
    document = replace(manual([]), text=parsed.text, elements=parsed.elements)
    chunked, writer = cut(document), ScriptedWriter(well)
    made = enricher(writer, embedder, Enrichment(context=True)).enrich(document, chunked, {}, nothing_kept)
    (whole,) = [entry for entry in chunked.entries if "Credit" in entry.text]
    assert 254 - 16 < len(embedder.token_spans(whole.text)) <= 254
    assert [entry for entry in made.entries if entry.kind is EntryKind.CHUNK] == [whole]
    assert len(writer.prompts) == len(chunked.entries) - 1
    assert made.unwritten == ()


def test_rows_and_summaries_of_headings_stay_as_they_are(document: Document, embedder: MiniLM) -> None:
    chunked = chunk(document, Chunking(size=60, overlap=0, summaries=True, parents=200), embedder)
    made = enricher(ScriptedWriter(well), embedder).enrich(document, chunked, {}, nothing_kept)
    summaries = [entry for entry in chunked.entries if entry.kind is EntryKind.SUMMARY]
    assert summaries
    assert set(summaries) <= set(made.entries)
    assert len([entry for entry in made.entries if entry.kind is EntryKind.CONTEXT]) == 30


def test_a_document_without_text_is_not_asked_about(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    document, writer = manual([]), ScriptedWriter(well)
    made = enricher(writer, embedder).enrich(document, cut(document), {}, nothing_kept)
    assert (made, writer.prompts) == (Enriched((), {}, ()), [])


def test_passages_that_are_alike_in_all_that_is_shown_are_one_call(manual: Manual, cut: Cut, embedder: MiniLM) -> None:
    document = manual([LONG] * 3)
    under_one = replace(document, elements=tuple(replace(each, heading_path=("Notes",)) for each in document.elements))
    page = f"Section of Aurora 0\n\n{LONG}"
    text = "\n\n".join([page] * 3)
    starts = [number * (len(page) + 2) for number in range(3)]
    elements = [
        replace(element, start=start + offset, end=start + offset + length, heading_path=("Notes",))
        for start in starts
        for element, offset, length in zip(under_one.elements, (0, 21), (19, len(LONG)), strict=False)
    ]
    repeated = replace(document, text=text, elements=tuple(elements))
    chunked, writer = cut(repeated), ScriptedWriter(well)
    assert len({chunk.text for chunk in chunked.chunks}) == 1
    made = enricher(writer, embedder, Enrichment(questions=2)).enrich(repeated, chunked, {}, nothing_kept)
    assert len(writer.prompts) == len(made.replies) == 1
    assert [entry.chunk_id for entry in made.entries[3:]] == [each.id for each in chunked.chunks for _ in QUESTIONS]


def kept_in_a_store(replies: Mapping[str, str]) -> None:
    raise OSError("No space left on device")


def test_a_reply_that_cannot_be_kept_stops_the_run(document: Document, cut: Cut, embedder: MiniLM) -> None:
    writer = ScriptedWriter(well)
    with pytest.raises(OSError, match="No space"):
        enricher(writer, embedder).enrich(document, cut(document), {}, kept_in_a_store)
    assert len(writer.prompts) <= ALL.parallel
