from __future__ import annotations

import pytest

from citewell.loading.mail.quoted import FORWARDED, REPLY, Passage, passages

NEW = "The fee is 12 EUR."
OLD = "What is the fee?"


def read(*lines: str) -> list[tuple[str, str]]:
    found = (Passage(passage.text.strip(), passage.label) for passage in passages("\n".join(lines)))
    return [(passage.label, passage.text) for passage in found if passage.text]


@pytest.mark.parametrize(
    "attribution",
    [
        "On Mon, Mar 4, 2024 at 10:12 AM Jane Roe <jane@example.com> wrote:",
        "On 04/03/2024 10:12, Jane Roe wrote:",
        "Am Mo., 4. März 2024 um 10:12 Uhr schrieb Jane Roe <jane@example.com>:",
        "Am 04.03.24 um 10:12 schrieb Jane Roe:",
        "Le lun. 4 mars 2024 à 10:12, Jane Roe <jane@example.com> a écrit :",
        "El lun, 4 mar 2024 a las 10:12, Jane Roe escribió:",
        "Il giorno lun 4 mar 2024 alle ore 10:12 Jane Roe ha scritto:",
        "Op ma 4 mrt 2024 om 10:12 schreef Jane Roe <jane@example.com>:",
    ],
)
def test_a_line_says_who_wrote_what_follows(attribution: str) -> None:
    assert read(NEW, "", attribution, "", f"> {OLD}") == [("", NEW), (REPLY, f"{attribution}\n{OLD}")]
    # Some programs mark no line.
    assert read(NEW, "", attribution, "", OLD, "", "Jane") == [("", NEW), (REPLY, f"{attribution}\n\n{OLD}\n\nJane")]


def test_that_line_may_be_broken() -> None:
    first, second = "On Mon, Mar 4, 2024 at 10:12 AM Jane Roe", "<jane@example.com> wrote:"
    assert read(NEW, "", first, second, f"> {OLD}") == [("", NEW), (REPLY, f"{first}\n{second}\n{OLD}")]
    assert read(NEW, "", first, second, "", OLD) == [("", NEW), (REPLY, f"{first}\n{second}\n\n{OLD}")]


def test_answers_between_the_quoted_lines() -> None:
    assert read("> One?", "Yes.", "> Two?", ">> Three?", "No.") == [
        (REPLY, "One?"),
        ("", "Yes."),
        (REPLY, "Two?\nThree?"),
        ("", "No."),
    ]


@pytest.mark.parametrize(
    "block",
    [
        ["-----Original Message-----", "From: Jane", "Sent: Monday", "To: Max", "Subject: Fee"],
        ["-----Ursprüngliche Nachricht-----", "Von: Jane", "Gesendet: Montag", "An: Max", "Betreff: Gebühr"],
        ["-----Message d'origine-----", "De : Jane", "Envoyé : lundi", "À : Max", "Objet : Frais"],
        ["________________________________", "From: Jane <j@x>", "Sent: Monday", "To: Max", "Subject: Fee"],
        ["Von: Jane Roe <jane@example.com>", "Datum: Montag, 4. März 2024 um 10:12", "An: Max", "Betreff: Gebühr"],
        ["*From:* Jane Roe", "*Sent:* Monday, 4 March 2024", "*To:* Max", "*Subject:* Fee"],
    ],
)
def test_a_block_of_headers_begins_the_old_message(block: list[str]) -> None:
    assert read(NEW, "", *block, "", f"> {OLD}") == [("", NEW), (REPLY, "\n".join([*block, "", OLD]))]


@pytest.mark.parametrize(
    "line",
    [
        "---------- Forwarded message ---------",
        "Begin forwarded message:",
        "-------- Weitergeleitete Nachricht --------",
        "Anfang der weitergeleiteten Nachricht:",
        "---------- Message transféré ---------",
        "Début du message réexpédié :",
    ],
)
def test_a_forwarded_message(line: str) -> None:
    assert read("See below.", "", line, "From: Jane", "", OLD) == [
        ("", "See below."),
        (FORWARDED, f"{line}\nFrom: Jane\n\n{OLD}"),
    ]


def test_an_old_message_alone_was_forwarded() -> None:
    block = ["From: Jane", "Sent: Monday", "To: Max", "Subject: Fee"]
    assert read("", *block, "", OLD) == [(FORWARDED, "\n".join([*block, "", OLD]))]


@pytest.mark.parametrize(
    "text",
    [
        "On Monday we wrote:\nnothing",
        "On 3 May the auditor wrote to us about three points:\n- one",
        "From: the main station\nTo: the airport\nit takes an hour.",
        "Am Ende schrieb er:\nkein Wort",
        "From here on all is new.\nSubject to change.",
        "a > b\nand more",
    ],
)
def test_what_only_looks_like_a_quotation(text: str) -> None:
    assert read(text) == [("", text)]


def test_hostile_lines_are_read_once() -> None:
    # Any square of these sizes would not end before the test's time limit.
    attribution = "On 04/03/2024 10:12, Jane Roe wrote:"
    assert len(read(*[attribution, "> x"] * 10_000)) == 10_000
    assert read("> " * 500_000 + "x") == [(REPLY, "x")]
    assert read("On 10:12 " + "wrote " * 100_000 + ":") != []
    assert read(*[attribution, ""] * 10_000, "> x") != []
