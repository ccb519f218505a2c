"""The JSON shapes, key by key: a program of somebody else's relies on each of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from citewell import shapes
from citewell.errors import IndexingStopped
from citewell.types import (
    Answer,
    Chunk,
    Citation,
    Document,
    Drift,
    Element,
    ElementKind,
    Ending,
    FileReport,
    FileState,
    Floor,
    FloorOrigin,
    Hit,
    IndexReport,
    KeptBack,
    Page,
    PageState,
    Receipt,
    Removed,
    Rights,
    Scale,
    Sentence,
    Status,
    Step,
    Trust,
    Usage,
    Version,
)

FRAUD = Rights(frozenset({"fraud_team", "audit"}))
TEXT = "Disputes\n\nCustomers have 120 days."

CHUNK = Chunk(
    id="doc1-c0",
    document_id="doc1",
    title="Manual",
    source="file:///m/manual.pdf",
    version="2026",
    text="Customers have 120 days.",
    start=10,
    end=34,
    heading_path=("4 Cards", "4.2 Disputes"),
    pages=((37, "xxxvii"), (38, "1")),
    kind=ElementKind.PARAGRAPH,
    rights=FRAUD,
    trust=Trust.APPROVED,
)
PARENT = replace(CHUNK, id="doc1#p0", text=TEXT, start=0)
HIT = Hit(CHUNK, "doc1-c0", 0.0325, Scale.RRF, 1, {"dense": 2, "keyword": 1}, 0.71, PARENT)
CITATION = Citation(
    n=1,
    chunk_id="doc1-c0",
    document_id="doc1",
    title="Manual",
    source="file:///m/manual.pdf",
    heading_path=("4 Cards", "4.2 Disputes"),
    page="xxxvii",
    page_number=37,
    quote="Customers have 120 days.",
    start=10,
    end=34,
    link="file:///m/manual.pdf#page=37",
)
DOCUMENT = Document(
    id="doc1",
    content_hash="0" * 64,
    title="Manual",
    source="file:///m/manual.pdf",
    version="2026",
    text=TEXT,
    elements=(
        Element(ElementKind.HEADING, 0, 8, ("Disputes",), page=1),
        Element(ElementKind.PARAGRAPH, 10, 34, ("Disputes",), page=1, links=("https://example.org/",) * 2),
    ),
    rights=FRAUD,
    pages=(
        Page(1, "i", 0, 34),
        Page(2, "ii", 34, 34, PageState.NEEDS_OCR, "an image without text"),
        Page(3, "iii", 34, 34, PageState.NEEDS_OCR, confidence=0.5),
    ),
    valid_from=date(2026, 1, 1),
    language="en",
    trust=Trust.APPROVED,
    parent_id="mail1",
    metadata={"author": "A. Writer"},
    lost="page ii: an image without text",
    number=3,
    indexed_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    expires=date(2030, 1, 1),
    fields={"department": "fraud", "amount": 25.0, "signed": date(2026, 1, 31), "tags": ("a", "b")},
)
VERSION = Version(
    document_id="doc1",
    number=3,
    source="file:///m/manual.pdf",
    title="Manual",
    label="2026",
    content_hash="0" * 64,
    rights=FRAUD,
    indexed_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    valid_from=date(2026, 1, 1),
    valid_to=None,
    in_force_from=date(2026, 1, 1),
    in_force_to=date(2026, 6, 30),
    current=False,
    searchable=True,
    ended_at=datetime(2026, 7, 1, tzinfo=UTC),
    ending=Ending.REPLACED,
)

ANSWER = Answer(
    question="How many days?",
    text="Customers have 120 days. [1]",
    sentences=(Sentence("Customers have 120 days.", (1,)),),
    citations=(CITATION,),
    abstained=False,
    reason="",
    hits=(HIT,),
    warnings=("One file needs OCR.",),
    usage=Usage(12, 3, None),
    trace=(Step("dense", 1.5, 1, 50),),
    searched=("How many days?",),
)
FLOOR = Floor(FloorOrigin.CALIBRATED, 0.43, date(2026, 2, 4))
STATUS = Status(
    *("my-index", 3, 40, 41, "all-MiniLM", "2", 1, "2026-02-03T04:05:06Z", 1234, FLOOR),
    past_versions=7,
    drift=(Drift("chunking.size", "240", "300", 3, "Run `citewell index` on the same paths again."),),
)

PASSAGE_SHAPE = {
    "chunk": "doc1-c0",
    "document": "doc1",
    "title": "Manual",
    "source": "file:///m/manual.pdf",
    "section": "4 Cards > 4.2 Disputes",
    "page": "xxxvii",
    "page_number": 37,
    "start": 10,
    "end": 34,
    "text": "Customers have 120 days.",
}
HIT_SHAPE = {
    "rank": 1,
    **PASSAGE_SHAPE,
    "score": 0.0325,
    "scale": "rrf",
    "lists": {"dense": 2, "keyword": 1},
    "parent": "doc1#p0",
    "alike": [],
}
CITATION_SHAPE = {
    "n": 1,
    "chunk": "doc1-c0",
    "document": "doc1",
    "title": "Manual",
    "source": "file:///m/manual.pdf",
    "section": "4 Cards > 4.2 Disputes",
    "page": "xxxvii",
    "page_number": 37,
    "quote": "Customers have 120 days.",
    "start": 10,
    "end": 34,
    "link": "file:///m/manual.pdf#page=37",
}
DOCUMENT_SHAPE = {
    "document": "doc1",
    "title": "Manual",
    "source": "file:///m/manual.pdf",
    "document_version": "2026",
    "number": 3,
    "indexed_at": "2026-02-03T04:05:06+00:00",
    "valid_from": "2026-01-01",
    "valid_to": None,
    "expires": "2030-01-01",
    "fields": {"department": "fraud", "amount": 25.0, "signed": "2026-01-31", "tags": ["a", "b"]},
    "language": "en",
    "trust": "approved",
    "groups": ["audit", "fraud_team"],
    "parent": "mail1",
    "lost": "page ii: an image without text",
}
VERSION_SHAPE = {
    "document": "doc1",
    "number": 3,
    "source": "file:///m/manual.pdf",
    "title": "Manual",
    "document_version": "2026",
    "content_hash": "0" * 64,
    "groups": ["audit", "fraud_team"],
    "indexed_at": "2026-02-03T04:05:06+00:00",
    "valid_from": "2026-01-01",
    "valid_to": None,
    "in_force_from": "2026-01-01",
    "in_force_to": "2026-06-30",
    "current": False,
    "searchable": True,
    "ended_at": "2026-07-01T00:00:00+00:00",
    "ending": "replaced",
    "kept_until": None,
}
RECEIPT = Receipt((Removed("doc1", "file:///a", (1, 3), {"texts": 2, "dense": 5}),), date(2026, 8, 1), purged=False)


def through_json(shape: shapes.Shape) -> object:
    """What a reader of the printed JSON gets; a tuple, a set or an enum would not come back as it went in."""
    return json.loads(json.dumps(shape, allow_nan=False))


def test_index() -> None:
    report = IndexReport(
        files=(
            FileReport(
                "file:///m/a.pdf", FileState.PARTLY, "", 4, {PageState.TEXT: 2, PageState.NEEDS_OCR: 1}, ("odd",)
            ),
            FileReport("file:///m/b.pdf", FileState.FAILED, "It is encrypted."),
        ),
        embedded=4,
        seconds=1.25,
        ignored=2,
    )
    assert through_json(shapes.index_shape(report)) == {
        "version": 1,
        "files": [
            {
                "source": "file:///m/a.pdf",
                "state": "partly",
                "reason": "",
                "chunks": 4,
                "pages": {"text": 2, "ocr": 1, "blank": 0, "failed": 0, "suspicious": 0, "skipped": 0},
                "warnings": ["odd"],
            },
            {
                "source": "file:///m/b.pdf",
                "state": "failed",
                "reason": "It is encrypted.",
                "chunks": 0,
                "pages": {"text": 0, "ocr": 0, "blank": 0, "failed": 0, "suspicious": 0, "skipped": 0},
                "warnings": [],
            },
        ],
        "embedded": 4,
        "seconds": 1.25,
        "ignored": 2,
        "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0},
        "warnings": [],
    }


def test_a_run_that_was_stopped_says_by_what() -> None:
    report = IndexReport((FileReport("file:///m/a.pdf", FileState.FAILED),), 0, 0.5)
    shape = shapes.index_shape(report, IndexingStopped("No quota.", remedy="Wait.", report=report))
    assert through_json(shape) == {
        **shapes.index_shape(report),
        "error": {"kind": "IndexingStopped", "message": "No quota.", "remedy": "Wait."},
    }


def test_search() -> None:
    shape = shapes.search_shape("dispute", [HIT])
    assert through_json(shape) == {"version": 1, "query": "dispute", "hits": [HIT_SHAPE]}


def test_ask() -> None:
    assert through_json(shapes.ask_shape(ANSWER)) == {
        "version": 1,
        "question": "How many days?",
        "answer": "Customers have 120 days. [1]",
        "abstained": False,
        "reason": "",
        "sentences": [{"text": "Customers have 120 days.", "citations": [1]}],
        "citations": [CITATION_SHAPE],
        "hits": [HIT_SHAPE],
        "warnings": ["One file needs OCR."],
        "usage": {"calls": 0, "prompt_tokens": 12, "completion_tokens": 3, "cost_usd": None},
        "searched": ["How many days?"],
        "decisions": [],
        "trace": [{"step": "dense", "ms": 1.5, "in": 1, "out": 50}],
        "kept_back": [],
        "floor": None,
    }


def test_what_was_kept_back_has_its_place_and_no_text() -> None:
    back = [KeptBack(HIT, "How many days?", value, "its evidence is under the floor") for value in (0.39, -math.inf)]
    shape = shapes.ask_shape(replace(ANSWER, kept_back=tuple(back), floor=FLOOR))
    through_json(shape)
    place = {key: value for key, value in PASSAGE_SHAPE.items() if key != "text"}
    told = {"query": "How many days?", "cosine": HIT.cosine, "why": "its evidence is under the floor"}
    assert shape["kept_back"] == [{**place, **told, "evidence": 0.39}, {**place, **told, "evidence": None}]
    assert shape["floor"] == {"least": 0.43, "origin": "calibrated", "made": "2026-02-04"}


def test_documents() -> None:
    shape = shapes.documents_shape([DOCUMENT])
    assert through_json(shape) == {"version": 1, "documents": [DOCUMENT_SHAPE]}


def test_document() -> None:
    assert through_json(shapes.document_shape(DOCUMENT, chunks=1)) == {
        "version": 1,
        "kind": "document",
        **DOCUMENT_SHAPE,
        "characters": 34,
        "chunks": 1,
        "pages": {"text": 1, "ocr": 2, "blank": 0, "failed": 0, "suspicious": 0, "skipped": 0},
        "page_problems": [
            {"number": 2, "label": "ii", "state": "ocr", "reason": "an image without text", "confidence": None},
            {"number": 3, "label": "iii", "state": "ocr", "reason": "", "confidence": 0.5},
        ],
        "confidence": 0.5,
        "metadata": {"author": "A. Writer"},
        "links": ["https://example.org/"],
        "outline": [{"text": "Disputes", "depth": 1, "page_number": 1}],
    }


def test_chunk() -> None:
    shape = through_json(shapes.chunk_shape(replace(CHUNK, preamble="Table 1", parent_id="doc1#p0")))
    assert shape == {
        "version": 1,
        "kind": "chunk",
        **PASSAGE_SHAPE,
        "preamble": "Table 1",
        "parent": "doc1#p0",
        "groups": ["audit", "fraud_team"],
    }


def test_status() -> None:
    assert through_json(shapes.status_shape(STATUS)) == {
        "version": 1,
        "path": "my-index",
        "documents": 3,
        "chunks": 40,
        "entries": 41,
        "embedder": "all-MiniLM",
        "analyser": "2",
        "generation": 1,
        "created": "2026-02-03T04:05:06Z",
        "bytes_on_disk": 1234,
        "floor": {"least": 0.43, "origin": "calibrated", "made": "2026-02-04"},
        "past_versions": 7,
        "sparse": None,
        "drift": [
            {
                "setting": "chunking.size",
                "was": "240",
                "now": "300",
                "documents": 3,
                "remedy": "Run `citewell index` on the same paths again.",
            }
        ],
    }
    assert shapes.status_shape(replace(STATUS, sparse="splade:max:256:ab"))["sparse"] == "splade:max:256:ab"


def test_history() -> None:
    assert through_json(shapes.history_shape([(VERSION, None)])) == {"version": 1, "versions": [VERSION_SHAPE]}
    kept = replace(VERSION, searchable=False, ending=Ending.DELETED, in_force_from=None, in_force_to=None)
    now = replace(VERSION, current=True, ended_at=None, ending=None)
    assert through_json(shapes.history_shape([(kept, date(2026, 8, 1)), (now, None)])) == {
        "version": 1,
        "versions": [
            VERSION_SHAPE
            | {"searchable": False, "ending": "deleted", "kept_until": "2026-08-01"}
            | {"in_force_from": None, "in_force_to": None},
            VERSION_SHAPE | {"current": True, "ended_at": None, "ending": None},
        ],
    }


def test_states() -> None:
    moment = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    state = {"name": "audit", "at": "2026-02-03T04:05:06+00:00"}
    assert through_json(shapes.state_shape("audit", moment)) == {"version": 1, "state": state}
    assert through_json(shapes.states_shape({"audit": moment}, [(VERSION, None)])) == {
        "version": 1,
        "states": [state],
        "deleted": [VERSION_SHAPE],
    }


def test_rollback() -> None:
    shape = shapes.rollback_shape(1, [VERSION])
    assert through_json(shape) == {"version": 1, "restored": 1, "now": VERSION_SHAPE, "with_it": []}
    files = (FileReport("file:///a", FileState.REMOVED, "It came later."),)
    assert through_json(shapes.rollback_to_shape("audit", files)) == {
        "version": 1,
        "state": "audit",
        "files": [
            {
                "source": "file:///a",
                "state": "removed",
                "reason": "It came later.",
                "chunks": 0,
                "pages": {"text": 0, "ocr": 0, "blank": 0, "failed": 0, "suspicious": 0, "skipped": 0},
                "warnings": [],
            }
        ],
    }


def test_receipt() -> None:
    shape = {
        "version": 1,
        "deleted": "file:///a",
        "purged": False,
        "kept_until": "2026-08-01",
        "removed": [
            {"document": "doc1", "source": "file:///a", "versions": [1, 3], "parts": {"texts": 2, "dense": 5}},
        ],
    }
    assert through_json(shapes.receipt_shape(RECEIPT)) == shape
    purged = replace(RECEIPT, kept_until=None, purged=True)
    assert through_json(shapes.receipt_shape(purged)) == shape | {"purged": True, "kept_until": None}


def test_error() -> None:
    assert shapes.error_shape("IndexNotFound", "No index.", "Make one.") == {
        "version": 1,
        "error": {"kind": "IndexNotFound", "message": "No index.", "remedy": "Make one."},
    }


def test_a_passage_without_pages_and_headings_has_the_keys_all_the_same() -> None:
    bare = Chunk("c", "d", "t", "s", "", "x", 0, 1, (), (), ElementKind.CODE, FRAUD, Trust.UNREVIEWED)
    shape = shapes.chunk_shape(bare)
    assert (shape["section"], shape["page"], shape["page_number"]) == ("", "", None)


def test_a_hit_and_a_citation_name_a_section_alike() -> None:
    assert CHUNK.section == CITATION.section == "4 Cards > 4.2 Disputes"


def test_every_key_is_described_in_the_docs() -> None:
    documentation = (Path(__file__).parents[1] / "docs" / "json.md").read_text(encoding="utf-8")
    report = IndexReport((FileReport("file:///a", FileState.ADDED),), 1, 1.0)
    everything = [
        shapes.index_shape(report),
        shapes.search_shape("dispute", [HIT]),
        shapes.ask_shape(ANSWER),
        shapes.documents_shape([DOCUMENT]),
        shapes.document_shape(DOCUMENT, chunks=1),
        shapes.chunk_shape(CHUNK),
        shapes.status_shape(STATUS),
        shapes.history_shape([(VERSION, None)]),
        shapes.states_shape({"audit": VERSION.indexed_at}, []),
        shapes.state_shape("audit", VERSION.indexed_at),
        shapes.rollback_shape(1, [VERSION]),
        shapes.rollback_to_shape("audit", report.files),
        shapes.receipt_shape(RECEIPT),
        shapes.error_shape("IndexNotFound", "No index.", "Make one."),
    ]
    described = set(re.findall(r'"([\w ]+)":', documentation))
    assert set(keys(everything)) <= described


def keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from keys(item)
