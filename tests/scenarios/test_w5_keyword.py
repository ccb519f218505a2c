"""W5: the keyword leg finds a word of any script, and leaves out the passages that do not hold it.

BM25 scores 0 what shares no token with the query, and the store leaves that out: so the tokens tell all.
"""

from __future__ import annotations

import pytest

from citewell.retrieval.analyser import analyse, analyse_query

# The same policy in each language: disputes, cards, branches.
PAGES = {
    "zh": (
        "客户可以在交易日起一百二十天内对银行卡付款提出争议。",
        "代码 R-17 表示怀疑欺诈，卡片已被冻结。",
        "分行周一至周五营业，上午九点开门。",
    ),
    "ja": (
        "お客様は取引日から120日以内にカード決済に異議を申し立てることができます。",
        "コードR-17は不正利用の疑いを示し、カードは停止されます。",
        "支店は月曜日から金曜日まで営業しています。",
    ),
    "ko": (
        "고객은 거래일로부터 120일 이내에 카드 결제에 이의를 제기할 수 있습니다.",
        "코드 R-17은 사기가 의심됨을 뜻하며 계좌가 정지됩니다.",
        "지점은 월요일부터 금요일까지 영업합니다.",
    ),
    "th": (
        "ลูกค้าสามารถโต้แย้งการชำระเงินด้วยบัตรภายใน 120 วันนับจากวันทำรายการ",
        "รหัส R-17 หมายถึงสงสัยว่ามีการฉ้อโกง และบัญชีถูกระงับ",
        "สาขาเปิดทำการวันจันทร์ถึงวันศุกร์",
    ),
    "ar": (
        "يمكن للعميل الاعتراض على الدفع بالبطاقة خلال ١٢٠ يومًا من تاريخ المعاملة.",
        "الرمز R-17 يعني الاشتباه في الاحتيال وتجميد الحساب.",
        "الفروع مفتوحة من الاثنين إلى الجمعة.",
    ),
    "hi": (
        "ग्राहक लेनदेन की तारीख से १२० दिनों के भीतर कार्ड भुगतान पर विवाद कर सकता है।",
        "कोड R-17 का अर्थ है धोखाधड़ी का संदेह और खाता बंद।",
        "शाखाएँ सोमवार से शुक्रवार तक खुली रहती हैं।",
    ),
    "de": (
        "Kunden können einer Kartenzahlung innerhalb von 120 Tagen nach der Buchung widersprechen.",
        "Code R-17 bedeutet Betrugsverdacht, das Konto wird gesperrt. Kündigungen gehen an die Filiale.",
        "Die Zweigstellen öffnen montags bis freitags in jeder größeren Straße.",
    ),
}


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("zh", "争议", {0}),
        ("zh", "欺诈", {1}),
        ("zh", "分行", {2}),
        ("zh", "冻结", {1}),
        ("zh", "行分", set()),
        ("zh", "卡", {0, 1}),
        ("zh", "r 17", {1}),
        ("ja", "異議", {0}),
        ("ja", "カード", {0, 1}),
        ("ja", "ｶｰﾄﾞ", {0, 1}),
        ("ja", "支店", {2}),
        ("ja", "R-17", {1}),
        ("ko", "카드", {0}),
        ("ko", "지점", {2}),
        ("th", "บัตร", {0}),
        ("th", "สาขา", {2}),
        ("th", "ฉ้อโกง", {1}),
        ("ar", "الدفع", {0}),
        ("ar", "120", {0}),
        ("ar", "الاحتيال", {1}),
        ("ar", "احتيال", {1}),
        ("ar", "الفُرُوع", {2}),
        ("hi", "विवाद", {0}),
        ("hi", "120", {0}),
        ("hi", "धोखाधड़ी", {1}),
        ("hi", "शाखा", {2}),
        ("de", "Kündigung", {1}),
        ("de", "kundigung", {1}),
        ("de", "KARTENZAHLUNGEN", {0}),
        ("de", "Zweigstelle", {2}),
        ("de", "strasse", {2}),
    ],
)
def test_a_word_finds_its_passages_and_no_other(language: str, query: str, expected: set[int]) -> None:
    tokens = set(analyse_query(query))
    found = {n for n, passage in enumerate(PAGES[language]) if tokens.intersection(analyse(passage, language))}
    assert found == expected


@pytest.mark.parametrize("language", [language for language in PAGES if language != "de"])
def test_a_page_of_another_script_needs_no_language(language: str) -> None:
    for passage in PAGES[language]:
        assert analyse(passage) == analyse(passage, language)


def test_a_chinese_word_finds_nothing_in_the_other_languages() -> None:
    tokens = set(analyse_query("争议"))
    for language, passages in PAGES.items():
        if language != "zh":
            assert not tokens.intersection(analyse(" ".join(passages), language))
