"""What is asked of one row of a table is not answered by the row of another, whatever the file.

Real files, the real index, the real embedder: the same tables as CSV, Markdown, HTML, XLSX, and as lines of text.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest

from citewell.index import Index

Rows = list[list[str]]

TABLES: dict[str, Rows] = {
    "fees": [
        ["Service", "Fee", "Time"],
        ["Credit transfer", "1.20 euros", "same day"],
        ["Debit transfer", "0.80 euros", "two days"],
        ["Standing order", "0.30 euros", "same day"],
        ["Cash deposit", "2.00 euros", "at once"],
    ],
    "cards": [
        ["Card", "Yearly fee", "Limit"],
        ["Debit card", "12 euros", "500 euros"],
        ["Credit card", "40 euros", "2,000 euros"],
        ["Prepaid card", "5 euros", "250 euros"],
    ],
    "orders": [
        ["Order", "Commission", "Cut-off"],
        ["Buy order in shares", "0.20 %", "17:30"],
        ["Sell order in shares", "0.25 %", "17:00"],
        ["Buy order in bonds", "0.10 %", "16:30"],
    ],
    "calls": [
        ["Direction", "Line", "Wait"],
        ["Inbound calls", "Line 4", "30 seconds"],
        ["Outbound calls", "Line 7", "90 seconds"],
        ["Internal calls", "Line 9", "5 seconds"],
    ],
    "boiler": [
        ["Setting", "Value", "Unit"],
        ["Minimum pressure", "1.2", "bar"],
        ["Maximum pressure", "6.5", "bar"],
        ["Minimum temperature", "4", "degrees"],
        ["Maximum temperature", "85", "degrees"],
    ],
    "budget": [
        ["Year", "Budget", "Staff"],
        ["2022", "410,000 euros", "12"],
        ["2023", "455,000 euros", "14"],
        ["2024", "390,000 euros", "11"],
    ],
    "codes": [
        ["Code", "Meaning", "Action"],
        ["R-17", "suspected fraud", "block the card"],
        ["R-18", "card expired", "send a new card"],
        ["R-21", "wrong PIN", "ask again"],
    ],
    "rates": [
        ["Currency", "Rate", "Spread"],
        ["EUR", "1.0000", "0.1 %"],
        ["USD", "1.0840", "0.4 %"],
        ["GBP", "0.8520", "0.5 %"],
    ],
    "allowances": [
        ["Country", "Daily allowance", "Night allowance"],
        ["France", "36 euros", "110 euros"],
        ["Spain", "31 euros", "95 euros"],
        ["Portugal", "29 euros", "88 euros"],
    ],
    "parcels": [
        ["Parcel", "Price", "Delivery"],
        ["Domestic parcel", "4.90 euros", "two days"],
        ["International parcel", "14.50 euros", "nine days"],
        ["Express parcel", "9.80 euros", "one day"],
    ],
}

THERE = [
    ("What is the fee for a credit transfer?", "1.20"),
    ("What is the fee for a debit transfer?", "0.80"),
    ("How long does a debit transfer take?", "two days"),
    ("What is the limit of a debit card?", "500 euros"),
    ("What is the yearly fee of a credit card?", "40 euros"),
    ("What is the commission on a sell order in shares?", "0.25"),
    ("What commission is charged when I buy bonds?", "0.10"),
    ("Which line takes inbound calls?", "Line 4"),
    ("Which line is for outbound calls?", "Line 7"),
    ("What is the minimum pressure?", "1.2"),
    ("What is the highest temperature?", "85"),
    ("What was the budget in 2023?", "455,000"),
    ("What does R-18 mean?", "card expired"),
    ("What is the rate of USD?", "1.0840"),
    ("What is the rate of the dollar?", "1.0840"),
    ("What is the night allowance in Portugal?", "88 euros"),
    ("What is the daily allowance for Madrid?", "31 euros"),
    ("What is the price of an international parcel?", "14.50"),
]
"""Also in other words than the row's, where their meaning leaves no doubt."""

NOT_THERE = [
    "What is the fee for a wire transfer?",
    "What does a cash withdrawal cost?",
    "What is the limit of a virtual card?",
    "What is the yearly fee for a platinum card?",
    "What is the commission on a sell order in bonds?",
    "Which line is for emergency calls?",
    "What is the maximum humidity?",
    "What is the average pressure?",
    "What was the budget in 2019?",
    "How many staff were there in 2030?",
    "What does R-19 mean?",
    "What is the rate for JPY?",
    "What is the daily allowance for Italy?",
    "What is the price of an overnight parcel?",
]


def as_csv(path: Path, rows: Rows) -> None:
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def as_markdown(path: Path, rows: Rows) -> None:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    path.with_suffix(".md").write_text("\n".join([f"# {path.name.title()}", "", *lines, ""]), encoding="utf-8")


def as_html(path: Path, rows: Rows) -> None:
    cells = [[f"<th>{cell}</th>" for cell in rows[0]], *([f"<td>{cell}</td>" for cell in row] for row in rows[1:])]
    table = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    page = f"<html><body><h1>{path.name.title()}</h1><table>{table}</table></body></html>"
    path.with_suffix(".html").write_text(page, encoding="utf-8")


def as_xlsx(path: Path, rows: Rows) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    book.save(path.with_suffix(".xlsx"))


def as_lines(path: Path, rows: Rows) -> None:
    head, *body = rows
    lines = [
        f"{row[0]}: {', '.join(f'{name} {cell}' for name, cell in zip(head[1:], row[1:], strict=True))}."
        for row in body
    ]
    path.with_suffix(".txt").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module", params=[as_csv, as_markdown, as_html, as_xlsx, as_lines])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    write: Callable[[Path, Rows], None] = request.param
    folder = tmp_path_factory.mktemp("rows")
    (folder / "files").mkdir()
    for name, rows in TABLES.items():
        write(folder / "files" / name, rows)
    with Index.create(folder / "index") as made:
        report = made.add(folder / "files")
        assert len(report.files) == len(TABLES)
        assert not report.failed
        yield made


def test_the_row_that_is_asked_for_is_quoted(index: Index) -> None:
    told = {question: index.ask(question).text for question, _ in THERE}
    assert {question: told[question] for question, expected in THERE if expected not in told[question]} == {}


def test_where_the_row_is_not_there_its_siblings_are_not_quoted(index: Index) -> None:
    answers = {question: index.ask(question) for question in NOT_THERE}
    assert {question: answer.text for question, answer in answers.items() if not answer.abstained} == {}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What are the yearly fees of a debit card and a credit card?", {"12 euros", "40 euros"}),
        ("What are the fees at Northwind Bank?", {"1.20", "0.80"}),
        ("What is the fee for a debit transfer and for a credit transfer?", {"1.20", "0.80"}),
    ],
)
def test_a_question_for_several_rows_gets_them(index: Index, question: str, expected: set[str]) -> None:
    text = index.ask(question).text
    assert {each for each in expected if each not in text} == set()
