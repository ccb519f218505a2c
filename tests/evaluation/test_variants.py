"""Settings as indexes: the user's own where it serves, another made of its texts where not."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from citewell.errors import UsageError
from citewell.evaluation.variants import Workbench, differing
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.settings import Chunking, Generation, Loading, Models, Retrieval, Security, Settings
from citewell.types import Principal

PARAGRAPHS = "\n\n".join(f"Paragraph {number} says something about the fee of branch {number}." for number in range(30))
KEPT = "https://bank.example/kept.md"
GONE = "https://bank.example/gone.md"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    settings = Settings()
    with Index.create(tmp_path / "index", settings=settings) as index:
        index.add_documents([from_text(PARAGRAPHS, source=KEPT, groups=["team"]), from_text("Gone soon.", source=GONE)])
    return Workbench(str(tmp_path / "index"), settings, tmp_path / "bench")


def test_what_only_asks_otherwise_asks_the_index_that_there_is(bench: Workbench) -> None:
    wanted = Settings(
        retrieval=Retrieval(keep=1, legs=("keyword",)),
        generation=Generation(max_sentences=1),
        models=Models(llm_timeout_s=5),
        loading=Loading(max_file_mb=200),
    )
    with bench.opened(wanted) as index:
        assert index.location == bench.place
        assert len(index.search("the fee of branch 7", principal=Principal(groups=frozenset({"team"})))) == 1
    assert not bench.folder.exists()


def test_another_chunking_is_built_beside_with_the_same_rights(bench: Workbench) -> None:
    wanted = Settings(chunking=Chunking(size=40, overlap=0))
    before = Index.open(bench.place).status()
    with bench.opened(wanted) as index:
        assert index.status().chunks > before.chunks
        assert index.status().documents == before.documents
        assert index.search("the fee of branch 7", principal=Principal(groups=frozenset({"team"})))
        assert all(hit.chunk.source == GONE for hit in index.search("the fee of branch 7"))
    assert bench.folder.stat().st_mode & 0o777 == 0o700
    assert Index.open(bench.place).status() == before


def test_it_is_built_once_and_follows_the_index(bench: Workbench) -> None:
    wanted = Settings(chunking=Chunking(size=40, overlap=0))
    with bench.opened(wanted) as index:
        made = index.status()
    with Index.open(bench.place) as base:
        base.delete(GONE)
        base.add_documents([from_text("New here.", source="https://bank.example/new.md")])
    with bench.opened(wanted) as index:
        assert index.status().created == made.created
        assert [document.source for document in index.stored(texts=False)] == [KEPT, "https://bank.example/new.md"]
    assert len(list(bench.folder.iterdir())) == 1


def test_a_past_day_is_asked_alike(bench: Workbench) -> None:
    rate = "https://bank.example/rate.md"
    versions = [("The rate is two per cent.", date(2025, 1, 1)), ("The rate is three per cent.", date(2026, 1, 1))]
    with Index.open(bench.place) as base:
        for text, since in versions:
            base.add_documents([from_text(text, source=rate, valid_from=since)])
    for _ in range(2):  # built, and followed with nothing changed
        with bench.opened(Settings(chunking=Chunking(size=40, overlap=0))) as index:
            (then,) = index.search("What is the rate?", k=1, as_of=date(2025, 6, 1))
            (now,) = index.search("What is the rate?", k=1, as_of=date(2026, 6, 1))
        assert (then.chunk.text, now.chunk.text) == tuple(text for text, _ in versions)
    with Index.open(bench.place) as base:
        base.add_documents([from_text("The rate is four per cent.", source=rate, valid_from=date(2026, 9, 1))])
    with bench.opened(Settings(chunking=Chunking(size=40, overlap=0))) as index:
        days = [date(2025, 6, 1), date(2026, 6, 1), date(2026, 10, 1)]
        found = [index.search("What is the rate?", k=1, as_of=day)[0].chunk.text.split()[3] for day in days]
    assert found == ["two", "three", "four"]


def test_another_reading_cannot_be_had_from_texts(bench: Workbench) -> None:
    with pytest.raises(UsageError, match="differ in \\[loading\\]"):
        bench.opened(Settings(loading=Loading(ocr="off")))


def test_the_keys_that_differ_are_named() -> None:
    assert differing(Settings(), Settings(retrieval=Retrieval(keep=1))) == ["retrieval.keep: 5, 1"]
    assert differing(Settings(), Settings()) == []
    web = Security(web_url="https://searx.example/search?token=secret")
    models = Models(embedder="openai:x", embedder_url="https://ann:secret@host.example/v1?key=secret")
    told = differing(Settings(), Settings(security=web, models=models))
    assert "security.web_url: , https://searx.example/search" in told
    assert "models.embedder_url: , https://host.example/v1" in told
    assert "secret" not in str(told)
