import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from uniseg.graphemecluster import grapheme_cluster_boundaries

from citewell.chunking import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["The fee is 4.2 EUR.", "See Art. 4 and No. 5.", "The answer is no.", "I was told so."],
        ["Dr. Smith, e.g. of the U.S. Treasury, agreed.", "J. Doe did not!", "Why?"],
        ['"Why?" he asked.', '"Yes."', "She left (see 4.2).", "(Nobody saw.)", "End"],
        ["Costs rose.", "12 customers called.", "The total was 5.", "We left in 2026.", "Then not."],
        ["settings.toml is read from example.com/path?id=3 first.", "Code R-17.", "C++."],
        ["Wait...", "What?!", "Yes!", "Yahoo! is a name."],
        ["A line\nthat is wrapped.", "Next."],
        ["4.2. Time limits apply.", "See Fig. B and Vol. IV for more."],
        ["Der Kunde zahlt z. B. am 5. Mai 2026 laut Abs. 2 Satz 1.", "„Nein.“", "Vgl. Anlage 3 bzw. Nr. 7."],
        ["¿Cuándo?", "¡Ya!", "El Sr. Pérez pagó 1.200,50 euros.", "Véase pág. 4."],
    ],
)
def test_sentences_of_scripts_with_spaces(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["客户必须在一百二十天内提出争议。", "“为什么？”", "他问。", "（见附录４．２）。", "2026年开始！"],
        ["第一条です。", "「はい。」", "次に進む．", "手数料は4.2％です。"],
    ],
)
def test_sentences_of_scripts_without_spaces(expected: list[str]) -> None:
    assert split("".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["ग्राहक को विवाद दर्ज करना होगा।", "क्या बैंक उत्तर देगा?", "हाँ।"],
        ["هل يمكن للعميل الاعتراض؟", "نعم.", "یہ درست ہے۔", "خلال 120 يوما!"],
        ["ลูกค้าต้องแจ้งข้อพิพาท", "ธนาคารจะตอบภายใน 120 วัน"],
    ],
)
def test_sentences_end_with_the_marks_of_their_script(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


def test_blank_lines_and_list_items_end_a_sentence_without_a_mark() -> None:
    text = "Fees\n\nThese apply:\n- debit card\n• credit card, as\n  agreed.\n(b) business.\n3. other\n \nEnd"

    assert split(text) == [
        "Fees",
        "These apply:",
        "- debit card",
        "• credit card, as\n  agreed.",
        "(b) business.",
        "3. other",
        "End",
    ]


@pytest.mark.parametrize("text", ["", " \n ", "\u3000"])
def test_nothing_has_no_sentences(text: str) -> None:
    assert sentences(text) == []


ALPHABET = st.sampled_from(
    [*"aB4.!?。।؟．,;\n \u0301\u094d\u200dกนि（）“”\"'", "Dr. ", "👩\u200d👧", "🇩🇪", "e\u0301", "\r\n", "क्ष"]
)


@settings(deadline=None)
@given(st.lists(ALPHABET, max_size=60).map("".join))
def test_sentences_hold_all_text_and_cut_no_grapheme(text: str) -> None:
    spans = sentences(text)

    assert all(start < end for start, end in spans)
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))
    assert "".join("".join(split(text)).split()) == "".join(text.split())
    graphemes = set(grapheme_cluster_boundaries(text))
    assert {start for start, _ in spans[1:]} <= graphemes


@pytest.mark.parametrize(
    "hostile",
    ["." * 100_000, "a. " * 50_000, "\n " * 50_000, "\n" + " " * 100_000, ". (((((" * 20_000, "1. A" * 30_000],
)
def test_time_grows_with_the_length_of_hostile_text(hostile: str) -> None:
    begin = time.process_time()
    sentences(hostile)

    assert time.process_time() - begin < 2
