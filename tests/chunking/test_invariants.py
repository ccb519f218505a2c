"""What holds for every document and every size."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uniseg.graphemecluster import grapheme_cluster_boundaries

from citewell.chunking import chunk
from citewell.loading.parsed import Details
from citewell.settings import Chunking
from citewell.types import ElementKind, EntryKind
from tests.chunking.conftest import Make, Narrow, Part, small

WORDS = st.sampled_from(
    [
        *(
            "The",
            "fee",
            "is 4.2 EUR.",
            "Dr. No",
            "e.g.",
            "R-17",
            "section",
            "why?",
            "embeddings",
            "12,000;",
            " | cell | ",
            "-",
        ),
        *(
            "争议。",
            "银行答复，",
            "カード",
            "期限です。",
            "ลูกค้าต้องแจ้ง",
            "ธนาคาร",
            "क्षत्रिय",
            "बैंक।",
            "العميل؟",
            "يجب،",
            "Straße",
        ),
        *(
            "e\u0301",
            "👩\u200d👧\u200d👦",
            "🇩🇪🇫🇷",
            "👍🏽",
            "\u0301",
            "\u200d",
            "\u200b\u200b",
            "각",
            "x" * 90,
            "QmFzZTY0" * 20,
        ),
    ]
)
TEXTS = st.lists(
    st.tuples(WORDS, st.sampled_from([" ", " ", " ", "", "\n", "\n\n", "\t", "  "])), min_size=1, max_size=60
)
DETAILS = st.builds(
    Details,
    header_rows=st.integers(0, 3),
    preamble=st.sampled_from(["", "Card | Fee", "import os\n\ndef fee(amount):", "争议 | " * 30, "x" * 300]),
    cuts=st.lists(st.integers(0, 200), max_size=4).map(tuple),
)
# Tables and code have details, headings a level; a table now and then has cells.
PARTS = st.lists(
    st.builds(
        lambda kind, words, level, details: (
            kind,
            "".join(map("".join, words)),
            details if kind in {ElementKind.TABLE, ElementKind.CODE} else level,
        ),
        st.sampled_from([*ElementKind, ElementKind.TABLE]),
        TEXTS,
        st.integers(1, 3),
        DETAILS,
    ),
    min_size=1,
    max_size=8,
)
SETTINGS = st.builds(
    lambda method, size, share, switches: Chunking(method=method, size=size, overlap=int(size * share), **switches),
    st.sampled_from(["structure", "structure", "semantic", "fixed"]),
    st.integers(16, 128),
    st.floats(0, 0.5),
    st.fixed_dictionaries(
        {
            "parents": st.sampled_from([0, 100, 300]),
            "table_rows": st.booleans(),
            "summaries": st.booleans(),
            "semantic_inside": st.booleans(),
            "semantic_threshold": st.sampled_from(["deviation", "percentile"]),
            "semantic_cut": st.sampled_from([0.0, 1.0, 60.0]),
        }
    ),
)


@pytest.fixture(scope="module")
def narrow() -> Narrow:
    return Narrow(130)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, chunking=SETTINGS)
def test_invariants(make: Make, narrow: Narrow, parts: list[Part], chunking: Chunking) -> None:
    document = make(parts, title="Manual of fees 2026")
    chunked = chunk(document, chunking, narrow)
    pieces = small(chunked)

    assert all(piece.text == document.text[piece.start : piece.end] for piece in chunked.chunks)
    assert all(piece.text.strip() for piece in chunked.chunks)
    assert all(earlier.start <= later.start for earlier, later in pairwise(chunked.chunks))
    assert all(earlier.start < later.start and earlier.end < later.end for earlier, later in pairwise(pieces))

    repeated = [document.text[later.start : earlier.end] for earlier, later in pairwise(pieces)]
    if chunking.method != "fixed":
        assert all(len(narrow.token_spans(text)) <= chunking.overlap for text in repeated)
    covered = {place for piece in pieces for place in range(piece.start, piece.end)}
    assert not [place for place, sign in enumerate(document.text) if place not in covered and not sign.isspace()]

    graphemes = set(grapheme_cluster_boundaries(document.text))
    assert {place for piece in chunked.chunks for place in (piece.start, piece.end)} <= graphemes


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, chunking=SETTINGS)
def test_what_is_embedded_keeps_the_limit(make: Make, narrow: Narrow, parts: list[Part], chunking: Chunking) -> None:
    document = make(parts, title="Manual of fees 2026")
    chunked = chunk(document, chunking, narrow)
    found = {piece.id: piece for piece in chunked.chunks}
    counts = {entry.id: len(narrow.token_spans(entry.text)) for entry in chunked.entries}
    of_chunks = [entry for entry in chunked.entries if entry.kind is EntryKind.CHUNK]

    assert all(count <= 128 for count in counts.values())
    assert sum(counts[entry.id] > chunking.size for entry in of_chunks) <= len(chunked.warnings)
    assert all(counts[entry.id] <= chunking.size for entry in chunked.entries if entry.kind is EntryKind.SUMMARY)
    assert [entry.chunk_id for entry in of_chunks] == [piece.id for piece in small(chunked)]
    assert all(entry.text.endswith(found[entry.chunk_id].text) for entry in of_chunks)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, chunking=SETTINGS)
def test_parents_hold_their_children_and_ids_are_unique(
    make: Make, narrow: Narrow, parts: list[Part], chunking: Chunking
) -> None:
    document = make(parts, title="Manual of fees 2026")
    chunked = chunk(document, chunking, narrow)
    found = {piece.id: piece for piece in chunked.chunks}

    assert len(found) == len(chunked.chunks)
    assert len({entry.id for entry in chunked.entries}) == len(chunked.entries)
    assert all(entry.chunk_id in found and set(entry.derived_from) <= set(found) for entry in chunked.entries)
    for piece in chunked.chunks:
        if piece.parent_id is not None:
            parent = found[piece.parent_id]
            assert parent.start <= piece.start < piece.end <= parent.end
            assert parent.parent_id is None or parent in small(chunked)
    children = {piece.parent_id for piece in chunked.chunks}
    assert all(piece.id in children for piece in chunked.chunks if "#p" in piece.id)


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, chunking=SETTINGS)
def test_rows_parents_and_summaries_leave_the_small_chunks_as_they_are(
    make: Make, narrow: Narrow, parts: list[Part], chunking: Chunking
) -> None:
    document = make(parts)
    bare = chunking.model_copy(update={"parents": 0, "table_rows": False, "summaries": False})

    with_all, without = chunk(document, chunking, narrow), chunk(document, bare, narrow)

    assert [replace(piece, parent_id=None) for piece in small(with_all)] == [
        replace(piece, parent_id=None) for piece in small(without)
    ]
    assert with_all.entries[: len(without.entries)] == without.entries


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, size=st.integers(16, 128))
def test_no_chunk_crosses_a_section_and_without_overlap_none_touches_another(
    make: Make, narrow: Narrow, parts: list[Part], size: int
) -> None:
    document = make(parts)

    chunks = small(chunk(document, Chunking(size=size, overlap=0), narrow))

    assert all(earlier.end <= later.start for earlier, later in pairwise(chunks))
    for piece in chunks:
        inside = [element for element in document.elements if element.start < piece.end and element.end > piece.start]
        assert inside[-1].heading_path == piece.heading_path
        assert all(piece.heading_path[: len(element.heading_path)] == element.heading_path for element in inside)
        others = [element for element in inside if element.kind is not ElementKind.HEADING]
        assert {element.heading_path for element in others} <= {piece.heading_path}
