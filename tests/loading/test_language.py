from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from citewell.loading.language import detect_language
from tests.scenarios.test_w5_keyword import PAGES as PASSAGES
from tests.scenarios.test_w5_scripts import PAGES

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2].parent / "shared"))

SENTENCES = {
    "en": "Customers may dispute a card payment within 120 days of the transaction date.",
    "de": "Kunden können einer Kartenzahlung innerhalb von 120 Tagen nach der Buchung widersprechen.",
    "fr": "Les clients peuvent contester un paiement par carte dans les 120 jours suivant la transaction.",
    "es": "Los clientes pueden disputar un pago con tarjeta en los 120 días siguientes a la transacción.",
    "it": "I clienti possono contestare un pagamento con carta entro 120 giorni dalla data della transazione.",
    "nl": "Klanten kunnen een kaartbetaling betwisten binnen 120 dagen na de datum van de transactie.",
    "pt": "Os clientes podem contestar um pagamento com cartão no prazo de 120 dias após a transação.",
    "pl": "Klienci mogą zakwestionować płatność kartą w ciągu 120 dni od daty transakcji.",
    "sv": "Kunder kan bestrida en kortbetalning inom 120 dagar från transaktionsdatumet.",
    "da": "Kunder kan gøre indsigelse mod en kortbetaling inden for 120 dage efter transaktionsdatoen.",
    "no": "Kundene kan bestride en kortbetaling innen 120 dager etter at kjøpet ble gjort.",
    "fi": "Asiakkaat voivat riitauttaa korttimaksun 120 päivän kuluessa maksutapahtumasta.",
    "cs": "Zákazníci mohou reklamovat platbu kartou do 120 dnů od data transakce.",
    "hu": "Az ügyfelek a tranzakció napjától számított 120 napon belül vitathatják a kártyás fizetést.",
    "ro": "Clienții pot contesta o plată cu cardul în termen de 120 de zile de la data tranzacției.",
    "tr": "Müşteriler, işlem tarihinden itibaren 120 gün içinde kart ödemesine itiraz edebilir.",
    "ru": "Клиент может оспорить платёж по карте в течение 120 дней с даты операции.",
    "uk": "Клієнт може оскаржити платіж карткою протягом 120 днів від дати операції.",
    "el": "Οι πελάτες μπορούν να αμφισβητήσουν μια πληρωμή με κάρτα εντός 120 ημερών.",
    "ko": "고객은 거래일로부터 120일 이내에 카드 결제에 이의를 제기할 수 있습니다.",
}


@pytest.mark.parametrize(("language", "sentence"), SENTENCES.items())
def test_a_sentence_tells_its_language(language: str, sentence: str) -> None:
    assert detect_language(sentence) == language
    assert detect_language(sentence.upper()) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "12 | 3.4 | 5 %\n22 | 1 | 2",
        "R-17",
        "Kündigung",
        "x y z",
        "die die die die die die die",
        "Meier, Dupont, Rossi, Silva, Perez, Kowalski, van der Berg, de Gaulle, da Gama",
        "Fee schedule Card Debit Credit Business cross-border 3.00 EUR 4.00 EUR",
    ],
)
def test_what_is_no_running_text_has_no_language(text: str) -> None:
    assert detect_language(text) == ""


@pytest.mark.parametrize(("language", "page"), PAGES.items())
def test_the_pages_of_w5(language: str, page: tuple[str, str, list[str]]) -> None:
    heading, between, sentences = page
    assert detect_language(f"{heading}\n\n{between.join(sentences)}") == language


@pytest.mark.parametrize(("language", "passages"), PASSAGES.items())
def test_the_passages_of_w5(language: str, passages: tuple[str, ...]) -> None:
    assert detect_language("\n".join(passages)) == language


def test_a_foreign_beginning_does_not_decide_about_a_long_text() -> None:
    text = SENTENCES["en"] * 10 + "\n" + SENTENCES["de"] * 200
    assert detect_language(text) == "de"


def test_code_is_english_at_most() -> None:
    source = Path(__file__).read_text(encoding="utf-8").split("@pytest")[-1]
    assert detect_language(source) in {"en", ""}


def test_the_same_text_has_the_same_language_in_another_process() -> None:
    command = (
        "import sys; from citewell.loading.language import detect_language;"
        "print([detect_language(line) for line in sys.argv[1:]])"
    )
    told = subprocess.run(
        [sys.executable, "-c", command, *SENTENCES.values()], capture_output=True, check=True, text=True
    )
    assert told.stdout.strip() == str(list(SENTENCES))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
@pytest.mark.parametrize("name", ["squad2", "scifact"])
def test_english_articles_are_never_taken_for_another_language(name: str) -> None:
    with gzip.open(SHARED / "data" / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][:400]
    assert {detect_language(text) for text in texts} <= {"en", ""}
