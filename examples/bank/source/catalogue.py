"""The catalogues of the manual: data in `catalogues/*.toml`, set in words here as markup."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def load(name: str, table: str) -> list[Entry]:
    """The entries of one table of a catalogue file, in order."""
    text = (Path(__file__).parent / "catalogues" / f"{name}.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)[table])


def catalogue(name: str) -> str:
    """What a chapter gets in place of `@name`. The editions' alternatives are still in it."""
    return "\n".join(CATALOGUES[name]())


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _sections(numbers: str) -> str:
    return " and ".join(f"section {number}" for number in numbers.split(" and "))


def changes() -> Iterator[str]:
    last, this = "{2024|2025}", "{2025|2026}"
    yield f"Table: Changes between the editions of {last} and {this}"
    yield _row("Section", "Subject", f"Edition {last}", f"Edition {this}")
    for entry in load("changes", "change"):
        yield f"?2026 {_row(entry['section'], entry['subject'], entry['old'], entry['new'])}"
    for entry in load("changes", "earlier"):
        yield f"?2025 {_row(entry['section'], entry['subject'], entry['old'], entry['new'])}"


def roles() -> Iterator[str]:
    for number, entry in enumerate(load("roles", "role"), start=1):
        yield f"### 1.5.{number} {entry['name']}\n\n{entry['text']}\n"


def fraud_types() -> Iterator[str]:
    for number, entry in enumerate(load("fraud_types", "type"), start=1):
        yield f"### 2.2.{number} {entry['code']} {entry['name']}\n\n{entry['what']}\n"
        yield "\n".join(f"- {_upper(sign)}." for sign in entry["signs"]) + "\n"
        due = entry["due"] if entry["due"].startswith(("at ", "{by ")) else f"within {entry['due']}"
        yield f"**First action, {due}.** {entry['first']} Case type: {entry['case']}. Owner: {entry['owner']}.\n"
        yield f"**Afterwards.** {entry['after']}\n"
        yield f"**Example.** {entry['example']}\n"


def products() -> Iterator[str]:
    limits = (("Payments in one day", "day"), ("Of these on the internet", "internet"), ("Cash in one day", "cash"),
              ("Abroad in one day", "abroad"), ("One contactless payment", "contactless"))  # fmt: skip
    for number, entry in enumerate(load("products", "product"), start=1):
        name = entry["name"]
        yield f"### 3.1.{number} {name}\n\nFor {entry['for']}. {entry['text']}\n"
        yield f"Table: Limits of the {_lower(name)}"
        yield _row("Limit", name)
        yield from (_row(label, entry[key]) for label, key in limits)
        yield f"\n{entry['special']}\n"


def alert_rules() -> Iterator[str]:
    for number, entry in enumerate(load("alert_rules", "rule"), start=1):
        yield f"### 6.7.{number} {entry['code']} {entry['name']}\n"
        yield f"The rule fires when {entry['fires']}. {entry['why']}\n"
        yield (
            f"It is harmless if {entry['harmless']}. In the past year the rule fired {entry['fired']} times; "
            f"{entry['fraud']} per cent of these were fraud, and half of the alerts were closed within "
            f"{entry['median']} minutes. Owner: {entry['owner']}.\n"
        )


def decline_table() -> Iterator[str]:
    yield "Table: Decline codes of the authorisation host"
    yield _row("Code", "Meaning", "Action")
    for entry in load("decline_codes", "code"):
        yield _row(entry["code"], entry["meaning"], entry["action"])


def decline_notes() -> Iterator[str]:
    for entry in load("decline_codes", "code"):
        yield f"**{entry['code']}, {_lower(entry['meaning'])}.** {entry['note']}\n"


def terminal_table() -> Iterator[str]:
    yield "Table: Terminal codes"
    yield _row("Code", "Meaning", "What to suggest")
    for entry in load("decline_codes", "terminal"):
        yield _row(entry["code"], entry["meaning"], entry["action"])


def merchants() -> Iterator[str]:
    for number, entry in enumerate(load("merchants", "merchant"), start=1):
        yield f"### 9.3.{number} {entry['name']}\n"
        yield f"Grade {entry['grade']}. A first payment adds {entry['points']} points. {entry['text']}\n"
        yield (
            f"Disputes in this category are examined by a senior agent from £{entry['dispute']} on. "
            f'The question to ask is: "{entry["ask"]}" The proof that counts most is {entry["proof"]}. Merchants of '
            f"this kind answer a chargeback after {entry['answer']} days on average, and in the past year the bank won "
            f"{entry['won']} per cent of the cases it filed.\n"
        )


def countries() -> Iterator[str]:
    for number, entry in enumerate(load("countries", "country"), start=1):
        yield f"### 9.5.{number} {entry['name']}\n"
        yield f"Grade {entry['grade']}; currency: {entry['currency']}. {entry['text']}\n"
        yield (
            f"**On the spot.** {entry['machine']} {entry['authority']}. The clock is {entry['clock']}. A replacement "
            f"card reaches a customer there within {entry['card']} business days. Of the amounts recalled in the past "
            f"year, {entry['recovered']} per cent came back.\n"
        )


def reports() -> Iterator[str]:
    for number, entry in enumerate(load("reports", "report"), start=1):
        yield f"### 11.4.{number} {entry['code']} {entry['name']}\n"
        yield f"{entry['text']} Author: {entry['owner']}. Due: {entry['due']}.\n"


def training() -> Iterator[str]:
    yield "Table: Training modules"
    yield _row("Code", "Module", "For", "Minutes", "Repeated every")
    modules = load("training", "module")
    for entry in modules:
        yield _row(entry["code"], entry["name"], entry["who"], entry["minutes"], entry["every"])
    yield ""
    for entry in modules:
        yield f"**{entry['code']}, {entry['name']}.** {entry['text']}\n"


def forms() -> Iterator[str]:
    for entry in load("forms", "form"):
        yield f"## {entry['code']} {entry['name']}\n\n{entry['text']}\n"
        yield f"**Fields:** {entry['fields']}. **Goes to:** {entry['to']}. **Record:** {entry['keep']}.\n"


def letters() -> Iterator[str]:
    for entry in load("letters", "letter"):
        yield f"## {entry['code']} {entry['name']}\n\n> {entry['text']}\n\n{entry['rule']}\n"


def cases() -> Iterator[str]:
    for number, entry in enumerate(load("cases", "case"), start=1):
        yield f"## C.{number} {entry['name']}\n\n{entry['text']}\n"
        yield f"**What was done.** {entry['done']}\n\n**What we learnt.** {entry['lesson']} "
        yield f"Rules applied: {_sections(entry['rules'])}.\n"


def questions() -> Iterator[str]:
    for entry in load("questions", "question"):
        yield f"**{entry['q']}**\n\n{entry['a']}\n"


def glossary() -> Iterator[str]:
    for term, meaning in load("glossary", "term")[0].items():
        yield f"**{term}.** {meaning}\n"


CATALOGUES = {
    made.__name__: made
    for made in (changes, roles, fraud_types, products, alert_rules, decline_table, decline_notes, terminal_table,
                 merchants, countries, reports, training, forms, letters, cases, questions, glossary)
}  # fmt: skip
