"""What holds for every document and every size."""

from collections.abc import Callable
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uniseg.graphemecluster import grapheme_cluster_boundaries

from citewell.chunking import Chunked, chunk, entries
from citewell.models.embedder import TokenSpans
from citewell.types import Document, ElementKind
from tests.chunking.conftest import Make

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
            "| cell |",
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
PARTS = st.lists(
    st.tuples(st.sampled_from(ElementKind), TEXTS.map(lambda parts: "".join(map("".join, parts))), st.integers(1, 3)),
    min_size=1,
    max_size=8,
)


def cut(document: Document, token_spans: Callable[[str], TokenSpans], size: int, overlap: int) -> Chunked:
    return chunk(document, token_spans, size=size, overlap=overlap, max_tokens=130)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, size=st.integers(16, 128), share=st.floats(0, 0.5))
def test_invariants(
    make: Make,
    token_spans: Callable[[str], TokenSpans],
    parts: list[tuple[ElementKind, str, int]],
    size: int,
    share: float,
) -> None:
    document = make(parts, title="Manual of fees 2026")
    chunked = cut(document, token_spans, size, int(size * share))
    chunks = chunked.chunks

    assert all(piece.text == document.text[piece.start : piece.end] for piece in chunks)
    assert all(piece.text.strip() for piece in chunks)
    assert all(earlier.start < later.start and earlier.end < later.end for earlier, later in pairwise(chunks))

    repeated = [document.text[later.start : earlier.end] for earlier, later in pairwise(chunks)]
    assert all(len(token_spans(text)) <= int(size * share) for text in repeated)

    covered = {place for piece in chunks for place in range(piece.start, piece.end)}
    assert not [place for place, sign in enumerate(document.text) if place not in covered and not sign.isspace()]

    counts = [len(token_spans(entry.text)) for entry in entries(document, chunked)]
    assert all(count <= 128 for count in counts)
    assert sum(count > size for count in counts) <= len(chunked.warnings)

    graphemes = set(grapheme_cluster_boundaries(document.text))
    assert {place for piece in chunks for place in (piece.start, piece.end)} <= graphemes


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(parts=PARTS, size=st.integers(16, 128))
def test_no_chunk_crosses_a_section_and_without_overlap_none_touches_another(
    make: Make, token_spans: Callable[[str], TokenSpans], parts: list[tuple[ElementKind, str, int]], size: int
) -> None:
    document = make(parts)

    chunks = cut(document, token_spans, size, 0).chunks

    assert all(earlier.end <= later.start for earlier, later in pairwise(chunks))
    for piece in chunks:
        inside = [element for element in document.elements if element.start < piece.end and element.end > piece.start]
        assert inside[-1].heading_path == piece.heading_path
        assert all(piece.heading_path[: len(element.heading_path)] == element.heading_path for element in inside)
        others = [element for element in inside if element.kind is not ElementKind.HEADING]
        assert {element.heading_path for element in others} <= {piece.heading_path}
