from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import LimitExceeded
from citewell.loading.encoding import decode, is_binary
from citewell.settings import Loading

LIMITS = Loading()
GERMAN = "Die Prüfung der Gebühr wurde für ungültig erklärt. Größe: 5"
JAPANESE = "彼は銀行に行きました。手数料は五百円です。\n"

CASES = [
    pytest.param(GERMAN, "cp1252", id="german"),
    pytest.param("El niño comió paella. ¡Qué rico! Pagó 25,75 €.", "cp1252", id="spanish"),
    pytest.param("Le café coûte 15,50 € à l’été.", "cp1252", id="french"),
    pytest.param("The bank’s fee is “5 £” – not more.", "cp1252", id="typographic english"),
    pytest.param("café", "cp1252", id="one letter"),
    pytest.param("Zażółć gęślą jaźń. Opłata za kartę.", "cp1250", id="polish"),
    pytest.param("Привет, мир. Банк не несёт ответственности.", "cp1251", id="russian"),
    pytest.param("Привет, мир. Банк не несёт ответственности.", "koi8_r", id="russian koi8"),
    pytest.param("Η τράπεζα χρεώνει προμήθεια.", "cp1253", id="greek"),
    pytest.param("البنك يفرض رسوم", "cp1256", id="arabic"),
    pytest.param(JAPANESE, "cp932", id="japanese"),
    pytest.param(JAPANESE, "euc_jp", id="japanese euc"),
    pytest.param(JAPANESE, "iso2022_jp", id="japanese seven bits"),
    pytest.param("银行手续费为五百元。客户可以在一百二十天内提出争议。", "gb18030", id="chinese"),
    pytest.param("銀行手續費為五百元。", "big5", id="traditional chinese"),
    pytest.param("은행 수수료는 오백 원입니다.", "euc_kr", id="korean"),
    pytest.param(GERMAN, "utf-8", id="utf-8"),
    pytest.param(GERMAN, "utf-8-sig", id="utf-8 marked"),
    pytest.param(GERMAN, "utf-16", id="utf-16 marked"),
    pytest.param(GERMAN, "utf-32", id="utf-32 marked"),
    pytest.param(GERMAN, "utf-16-le", id="utf-16-le unmarked"),
    pytest.param(GERMAN, "utf-16-be", id="utf-16-be unmarked"),
    pytest.param(JAPANESE, "utf-16-le", id="japanese utf-16-le unmarked"),
    pytest.param(JAPANESE, "utf-16-be", id="japanese utf-16-be unmarked"),
]


@pytest.mark.parametrize(("text", "codec"), CASES)
def test_encodings_are_told_from_the_bytes(text: str, codec: str) -> None:
    data = text.encode(codec)
    assert not is_binary(data)
    assert decode(data, LIMITS) == text


# Without NUL: before one, the mark of UTF-16 is that of UTF-32.
@given(
    st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"])
)
def test_a_byte_order_mark_is_believed(text: str, codec: str) -> None:
    assert decode(text.encode(codec), LIMITS) == re.sub("\r\n?|\x85|\u2028|\u2029", "\n", text)


@given(st.binary())
def test_any_bytes_are_decoded_or_binary(data: bytes) -> None:
    assert is_binary(data) or isinstance(decode(data, LIMITS), str)


def test_one_broken_byte_does_not_turn_utf8_into_another_encoding() -> None:
    data = (GERMAN * 20).encode() + b"\xff"
    assert decode(data, LIMITS) == GERMAN * 20 + "\ufffd"


def test_what_the_format_declares_wins_over_a_guess_but_not_over_utf8() -> None:
    turkish = "Şube saatleri değişti."
    assert decode(turkish.encode("cp1254"), LIMITS, "windows-1254") == turkish
    assert decode(turkish.encode(), LIMITS, "iso-8859-9") == turkish


@pytest.mark.parametrize("declared", ["iso-8859-1", "us-ascii"])
def test_declared_latin_1_is_read_as_windows_1252(declared: str) -> None:
    assert decode("15 €".encode("cp1252"), LIMITS, declared) == "15 €"


@pytest.mark.parametrize("declared", ["", "no-such-encoding", "utf-8", "base64", "x\x00y"])
def test_a_declaration_that_does_not_fit_is_passed_over(declared: str) -> None:
    assert decode(GERMAN.encode("cp1252"), LIMITS, declared) == GERMAN


def test_all_line_ends_become_one() -> None:
    assert decode("a\r\nb\rc\nd\u2028e\u2029f\x85g".encode(), LIMITS) == "a\nb\nc\nd\ne\nf\ng"


def test_text_over_the_limit_is_refused() -> None:
    with pytest.raises(LimitExceeded, match="max_text_mb"):
        decode(b"x" * 1001, Loading(max_text_mb=0.001))


def test_a_stray_nul_does_not_make_a_text_binary() -> None:
    assert not is_binary(b"a long line of a log with one \0 in it, as happens when a disk is full")


@pytest.mark.parametrize("data", [b"\x00\x01\x02\x03" * 100, b"abc\x00def", bytes(range(256)) * 4])
def test_binary_is_no_text(data: bytes) -> None:
    assert is_binary(data)


@pytest.mark.parametrize(
    "word",
    [
        "Köln",
        "Büro",
        "für",
        "über",
        "Größe",
        "São",
        "£5",
        "5°C",
        "Málaga",
        "München",
        "Zürich",
        "Gebühr",
        "Straße",
        "café",
        "naïve",
        "Øre",
        "façade",
        "§4",
        "Überweisung",
    ],
)
@pytest.mark.parametrize("before", ["", "The office in the city is closed. " * 200, "name;city;fee\nBolt;Ulm;12,50\n"])
def test_a_western_sign_among_ascii_is_not_read_as_chinese(word: str, before: str) -> None:
    text = f"{before}Das {word} ist offen."
    assert decode(text.encode("cp1252"), Loading()) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("名前,年齢,住所\n佐藤太郎,30,東京\n", "cp932"),
        ("这份合同的期限是三年。双方同意按季度付款。", "gb18030"),
        ("這份合約的期限是三年。雙方同意按季付款。", "big5"),
        ("이 계약의 기간은 삼 년이다. 양 당사자는 분기별로 지급한다.", "cp949"),
        ("Договор заключён на три года. Оплата производится поквартально.", "cp1251"),
    ],
)
def test_other_writing_is_still_told(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), Loading()) == text
