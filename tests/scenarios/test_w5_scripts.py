"""W5: the same policy page in scripts with and without spaces, cut at 200 tokens."""

import unicodedata
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Literal

import pytest
from uniseg.graphemecluster import grapheme_cluster_boundaries

from citewell.chunking import Chunked, chunk
from citewell.loading.parsed import TextBuilder
from citewell.models.minilm import MiniLM
from citewell.settings import Chunking, Loading
from citewell.types import Document, ElementKind, Rights

LIMIT = 200
CHARACTERS = 3_000

# A heading, what joins two sentences, and the sentences; the number varies from one round to the next.
PAGES = {
    "zh": (
        "持卡人争议处理",
        "",
        [
            "持卡人应在交易日起{}天内向银行提出争议。",
            "逾期提出的争议，银行有权不予受理！",
            "申请时须提交交易凭证、身份证明以及书面说明。",
            "银行收到申请后，应在{}个工作日内给予答复。",
            "如果案件需要向国际卡组织查询，处理时间可以延长吗？",
            "可以，但最长不得超过{}天，并且必须通知客户。",
            "调查期间，争议金额暂不计收利息。",
            "经查明属于欺诈交易的，银行应当全额退还款项。",
        ],
    ),
    "ja": (
        "カード取引の異議申立て",
        "",
        [
            "お客様は取引日から{}日以内に異議を申し立てることができます。",
            "期限を過ぎた申立ては、原則として受け付けられません。",
            "申立てには、取引明細と本人確認書類が必要です。",
            "銀行は受付後{}営業日以内に回答しなければなりません。",
            "調査に時間がかかる場合はどうなりますか？",
            "その場合でも、{}日を超えて延長することはできません。",
            "調査の間、対象となる金額に利息は発生しません。",
            "不正利用であると確認された取引は、全額が返金されます！",
        ],
    ),
    "th": (
        "การโต้แย้งรายการบัตร",
        " ",
        [
            "ลูกค้าต้องแจ้งโต้แย้งรายการภายใน {} วันนับจากวันที่ทำรายการ",
            "ธนาคารอาจปฏิเสธคำร้องที่ยื่นเกินกำหนดเวลา",
            "คำร้องต้องแนบหลักฐานการทำรายการและสำเนาบัตรประชาชน",
            "ธนาคารต้องตอบกลับภายใน {} วันทำการหลังจากได้รับคำร้อง",
            "หากต้องสอบถามเครือข่ายบัตรระหว่างประเทศธนาคารจะแจ้งให้ลูกค้าทราบ",
            "ระยะเวลาตรวจสอบทั้งหมดต้องไม่เกิน {} วัน",
            "ระหว่างการตรวจสอบจะไม่มีการคิดดอกเบี้ยจากยอดเงินที่โต้แย้ง",
            "เมื่อพบว่าเป็นการทุจริตธนาคารต้องคืนเงินเต็มจำนวน",
        ],
    ),
    "ar": (
        "الاعتراض على معاملات البطاقة",
        " ",
        [
            "يجب على العميل تقديم الاعتراض خلال {} يومًا من تاريخ المعاملة.",
            "يحق للبنك رفض الاعتراضات المقدمة بعد انتهاء المهلة.",
            "يُرفق بالطلب إيصال المعاملة، وصورة من الهوية، وشرح مكتوب.",
            "يلتزم البنك بالرد خلال {} أيام عمل من استلام الطلب.",
            "هل يمكن تمديد المدة عند الرجوع إلى شبكة البطاقات الدولية؟",
            "نعم، على ألا تتجاوز {} يومًا مع إخطار العميل بذلك.",
            "لا تُحتسب فوائد على المبلغ المعترض عليه أثناء التحقيق.",
            "إذا ثبت الاحتيال وجب على البنك رد المبلغ كاملًا!",
        ],
    ),
    "hi": (
        "कार्ड लेनदेन पर विवाद",
        " ",
        [
            "ग्राहक को लेनदेन की तारीख से {} दिनों के भीतर विवाद दर्ज करना होगा।",
            "समय सीमा के बाद मिले आवेदन को बैंक अस्वीकार कर सकता है।",
            "आवेदन के साथ लेनदेन की रसीद, पहचान पत्र और लिखित विवरण देना आवश्यक है।",
            "बैंक को आवेदन मिलने के {} कार्य दिवसों के भीतर उत्तर देना होगा।",
            "क्या अंतरराष्ट्रीय नेटवर्क से पूछताछ होने पर समय बढ़ सकता है?",
            "हाँ, पर वह {} दिनों से अधिक नहीं हो सकता और ग्राहक को सूचना देनी होगी।",
            "जाँच के दौरान विवादित राशि पर ब्याज नहीं लगाया जाता।",
            "धोखाधड़ी सिद्ध होने पर बैंक पूरी राशि लौटाता है!",
        ],
    ),
    "de": (
        "Reklamation von Kartenzahlungen",
        " ",
        [
            "Der Kunde muss eine Zahlung innerhalb von {} Tagen nach dem Buchungstag reklamieren.",
            "Später eingereichte Reklamationen kann die Bank gemäß Art. 4 Abs. 2 ablehnen.",
            "Beizufügen sind z. B. der Zahlungsbeleg, eine Ausweiskopie bzw. eine schriftliche Erklärung.",
            "Die Bank antwortet spätestens am {}. Werktag nach Eingang des Antrags.",
            "Darf sich die Frist verlängern, wenn Dr. Weiß vom Kartennetzwerk befragt wird?",
            "Ja, jedoch um höchstens {} Tage, und der Kunde ist zu benachrichtigen.",
            "Während der Prüfung fallen auf den Betrag von 4.200,50 € keine Zinsen an.",
            "Wird ein Betrug festgestellt, erstattet die Bank den vollen Betrag!",
        ],
    ),
}


def paragraphs(joint: str, sentences: list[str]) -> Iterator[list[str]]:
    """Paragraphs of 5 to 9 sentences, about 3,000 characters in all."""
    numbered = (sentence.format(5 + place) for place, sentence in enumerate(cycle(sentences)))
    written, length = 0, 5
    while written < CHARACTERS:
        paragraph = list(islice(numbered, length))
        yield paragraph
        written += len(joint.join(paragraph))
        length = 5 + (length + 2) % 5


def page(language: str) -> tuple[Document, set[int]]:
    """The page, and the places where its sentences end."""
    heading, joint, sentences = PAGES[language]
    written = list(paragraphs(joint, sentences))
    builder = TextBuilder(Loading())
    builder.add(ElementKind.HEADING, heading)
    for paragraph in written:
        builder.add(ElementKind.PARAGRAPH, joint.join(paragraph))
    parsed = builder.build(heading, language)
    ends, position = set(), 0
    for sentence in (sentence for paragraph in written for sentence in paragraph):
        position = parsed.text.index(sentence, position) + len(sentence)
        ends.add(position)
    everyone = Rights(frozenset({"everyone"}))
    document = Document(
        language, "0" * 64, heading, f"file:///{language}.txt", "1", parsed.text, parsed.elements, everyone
    )
    return document, ends


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM()


def cut(language: str, embedder: MiniLM, method: Literal["structure", "semantic", "fixed"], overlap: int) -> Chunked:
    """The page in chunks, after the checks that hold for every method: the limit, graphemes, all of the text."""
    document, _ = page(language)
    chunked = chunk(document, Chunking(method=method, size=LIMIT, overlap=overlap), embedder)

    assert CHARACTERS <= len(document.text) < CHARACTERS + 1_000
    assert max(len(embedder.token_spans(entry.text)) for entry in chunked.entries) <= LIMIT
    places = {place for piece in chunked.chunks for place in (piece.start, piece.end)}
    assert places <= set(grapheme_cluster_boundaries(document.text))
    assert not [piece for piece in chunked.chunks if unicodedata.category(piece.text[0]) in {"Mn", "Mc", "Me"}]
    held = {place for piece in chunked.chunks for place in range(piece.start, piece.end)}
    assert all(sign.isspace() for place, sign in enumerate(document.text) if place not in held)
    assert chunked.warnings == ()
    return chunked


@pytest.mark.parametrize("overlap", [0, 60])
@pytest.mark.parametrize("language", PAGES)
def test_w5_chunks_end_with_a_sentence(language: str, overlap: int, embedder: MiniLM) -> None:
    _, sentence_ends = page(language)

    cuts = [piece.end for piece in cut(language, embedder, "structure", overlap).chunks[:-1]]

    assert len(cuts) >= 3
    assert sum(place in sentence_ends for place in cuts) >= 0.9 * len(cuts)


@pytest.mark.parametrize("language", ["th", "de"])
def test_w5_cuts_by_meaning_end_with_a_sentence(language: str, embedder: MiniLM) -> None:
    _, sentence_ends = page(language)

    cuts = [piece.end for piece in cut(language, embedder, "semantic", 0).chunks[:-1]]

    assert len(cuts) >= 3
    assert sum(place in sentence_ends for place in cuts) >= 0.9 * len(cuts)


@pytest.mark.parametrize("language", PAGES)
def test_w5_windows_keep_the_limit_and_graphemes(language: str, embedder: MiniLM) -> None:
    assert len(cut(language, embedder, "fixed", 60).chunks) >= 4
