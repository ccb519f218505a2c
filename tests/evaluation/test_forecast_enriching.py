"""What a language model is to write of the documents, forecast from an index that has none of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from citewell.chunking import chunk
from citewell.enrichment import CONTEXT_TOKENS, tasks
from citewell.evaluation.forecast.case import Case, built
from citewell.evaluation.forecast.counting import Drawn, asked, counted, draw
from citewell.evaluation.forecast.enriching import enriching
from citewell.evaluation.forecast.rates import Assumptions
from citewell.evaluation.forecast.work import NOTHING, Work
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.minilm import MiniLM
from citewell.settings import Enrichment, Settings
from citewell.types import Document, Trust

SETTINGS = Settings.model_validate(
    {"chunking": {"size": 16, "overlap": 0, "parents": 200}, "storage": {"token_vectors": False}}
)
ALL = Enrichment(context=True, questions=2, summaries=True)
CARDS = ("Aurora", "Basalt", "Cobalt", "Dune")
TEXT = "\n\n".join(f"The limit of the {card} card is 300 euros a day in every country." for card in CARDS)
DOCUMENTS = [
    replace(from_text(TEXT, source="bank:limits", title="Limits"), trust=Trust.APPROVED),
    from_text(TEXT.replace("300", "400"), source="bank:old", title="Limits"),
]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(threads=1)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drawn]:
    with Index.create(tmp_path_factory.mktemp("enriching") / "index", settings=SETTINGS) as index:
        index.add_documents(DOCUMENTS)
        yield draw(index)


def lengths(document: Document, settings: Enrichment, embedder: MiniLM) -> list[int]:
    """The tokens of the prompts that would be sent."""
    asked_for = tasks(document, chunk(document, SETTINGS.chunking, embedder), settings, embedder)
    return [len(embedder.token_spans(f"{task.prompt.system}\n{task.prompt.user}")) for task in asked_for]


def test_calls_are_counted_in_the_prompts_themselves(drawn: Drawn, embedder: MiniLM) -> None:
    forecast = enriching(drawn, ALL, Assumptions(), embedder)
    sent = [length for document in DOCUMENTS for length in lengths(document, ALL, embedder)]
    assert len(sent) == 8 + 4 + 2  # contexts, questions of the approved one, summaries
    written = 8 * CONTEXT_TOKENS + 4 * 2 * 15 + 2 * 131
    # Each prompt ends its tags in a code of its own, and codes are cut into more or fewer tokens.
    assert forecast == Work(14, forecast.input_tokens, 0, 0, written, embedding_tokens=written)
    assert forecast.input_tokens == pytest.approx(sum(sent), rel=0.02)


def test_what_is_drawn_is_scaled_up(drawn: Drawn, embedder: MiniLM) -> None:
    one = enriching(drawn, Enrichment(context=True), Assumptions(), embedder)
    more = enriching(replace(drawn, documents=20), Enrichment(context=True), Assumptions(), embedder)
    assert more == one.times(10)


def test_it_is_part_of_what_the_settings_took(drawn: Drawn, embedder: MiniLM) -> None:
    assert enriching(drawn, Enrichment(), Assumptions(), embedder) == NOTHING
    collection = counted(drawn, 8, embedder, token_vectors=False)
    asking = asked(drawn, SETTINGS, Assumptions(), embedder)
    case = Case(collection, asking, Assumptions(), 128_000)
    work = Work(calls=3, input_tokens=100)
    assert built(replace(case, enriching=work)).once == built(case).once + work
