"""`compare`: a planted regression is caught and named, a change that is none is called so, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.index import Index
from citewell.loading.given import from_text
from tests.cli.conftest import Run

CARDS = ("Aurora", "Basalt", "Cobalt", "Dune", "Ember", "Fjord", "Garnet", "Harbour", "Indigo")
OTHER_WORDS = {
    "Which animals may travel in the cabin?": "Cats and small dogs are allowed on board.",
    "What do pupils pay?": "Students are charged half the price.",
    "Is smoking permitted?": "Lighting a cigarette is forbidden everywhere.",
    "When does the shop open?": "Business hours begin at nine in the morning.",
    "How heavy can luggage be?": "Each suitcase weighs at most twenty kilograms.",
    "Who repairs broken lifts?": "Defective elevators are fixed by the caretaker.",
    "Where are cars left overnight?": "Vehicles stay in the underground garage until dawn.",
    "What happens to purchases sent back?": "Returned goods are refunded within a week.",
}


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    texts = {
        **{f"limits/{card}": f"The daily limit of the {card} card is {300 + n} euros." for n, card in enumerate(CARDS)},
        **{f"fees/{card}": f"The yearly fee of the {card} card is {40 + n} euros." for n, card in enumerate(CARDS)},
        **{f"house/{n}": text for n, text in enumerate(OTHER_WORDS.values())},
    }
    with Index.create(folder / ".citewell") as index:
        index.add_documents(
            [from_text(text, source=f"https://bank.example/{name}.md", title=name) for name, text in texts.items()]
        )
    both = [
        {
            "id": f"both-{card}",
            "question": f"What does the {card} card cost a year, and what is its daily limit?",
            "expected_answer": f"The daily limit of the {card} card is {300 + n} euros. "
            f"The yearly fee of the {card} card is {40 + n} euros.",
            "must_contain": [f"{300 + n} euros", f"{40 + n} euros"],
            "evidence": [
                {"document": f"limits/{card}.md", "quote": f"{300 + n} euros"},
                {"document": f"fees/{card}.md", "quote": f"{40 + n} euros"},
            ],
            "kind": "two_parts",
        }
        for n, card in enumerate(CARDS)
    ]
    other_words = [
        {"id": f"other-{n}", "question": question, "evidence": [{"document": f"house/{n}.md", "quote": text}]}
        for n, (question, text) in enumerate(OTHER_WORDS.items())
    ]
    for name, lines in {"both": both, "other": other_words}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "default.toml").write_text("")
    (folder / "one.toml").write_text("[retrieval]\nkeep = 1\n")
    (folder / "keyword.toml").write_text('[retrieval]\nlegs = ["keyword"]\n')
    (folder / "small.toml").write_text("[chunking]\nsize = 100\noverlap = 0\n")
    (folder / "pages.toml").write_text("[loading]\nmax_pages = 7\n")
    return folder


@pytest.fixture
def folder(_made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(_made)
    return _made


def test_a_planted_regression_is_caught_and_named(folder: Path, citewell: Run) -> None:
    """With one passage where five were read, no answer has both parts; what is retrieved is the same."""
    ran = citewell("compare", "default.toml", "one.toml", "both.jsonl")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:2] == ["one.toml against default.toml, 9 questions", "  retrieval.keep: 5, 1"]
    verdict = next(line for line in lines if line.startswith("drop: "))
    assert "worse beyond chance: correct -1.000" in verdict
    table = {line.split("  ")[0]: line for line in lines}
    assert "drop" in table["correct"]
    assert "no difference" in table["recall@5"]
    assert "9 questions worse, the first 5:" in lines
    assert "  both-Aurora: What does the Aurora card cost a year, and what is its daily limit?" in lines
    assert "    correct 1.00 to 0.00" in lines


def test_a_regression_and_no_change_as_json(folder: Path, citewell: Run) -> None:
    ran = citewell("compare", "default.toml", "one.toml", "default.toml", "both.jsonl", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.json) == ["version", "before", "judge", "compared"]
    one, same = ran.json["compared"]
    assert (one["after"], one["settings"], one["verdict"]) == ("one.toml", ["retrieval.keep: 5, 1"], "drop")
    by_name = {each["measure"]: each for each in (*one["headline"], *one["others"])}
    assert (by_name["correct"]["before"], by_name["correct"]["after"]) == (1.0, 0.0)
    assert (by_name["context recall"]["before"], by_name["context recall"]["after"]) == (1.0, 0.5)
    assert by_name["context recall"]["is_beyond_chance"]
    assert (by_name["recall@5"]["after"], by_name["recall@5"]["changed"], by_name["recall@5"]["p"]) == (1.0, 0, 1.0)
    assert {cost["name"] for cost in one["costs"]} == {"seconds", "tokens", "cost_usd"}

    assert (same["after"], same["settings"], same["verdict"]) == ("default.toml", [], "no difference")
    assert {each["p"] for each in same["headline"]} == {1.0}
    assert "the same on each of 9 questions" in same["reason"]
    assert same["changes"] == []


def test_what_is_better_is_kept(folder: Path, citewell: Run) -> None:
    """The questions share no word with what answers them."""
    ran = citewell("compare", "keyword.toml", "default.toml", "other.jsonl", "--retrieval-only")
    assert (ran.code, ran.err) == (0, "")
    assert "  retrieval.legs: ('keyword',), ('dense', 'keyword')" in ran.out
    assert "keep: better beyond chance: recall@5 +" in ran.out
    assert "questions better" in ran.out
    assert "judge" not in ran.out
    assert "seconds" not in ran.out


def test_several_are_compared_with_the_first(folder: Path, citewell: Run) -> None:
    """Small chunks make another index, in the workbench; the texts are shorter, so that it finds the same."""
    settings = ("default.toml", "small.toml", "keyword.toml")
    ran = citewell("compare", *settings, "other.jsonl", "--retrieval-only", "--worth", "0.9", "--json")
    assert (ran.code, ran.err) == (0, "")
    small, keyword = ran.json["compared"]
    assert (small["after"], small["verdict"], small["worth"]) == ("small.toml", "no difference", 0.9)
    assert (keyword["after"], keyword["verdict"], keyword["worth"]) == ("keyword.toml", "drop", 0.9)
    assert [path.is_dir() for path in (folder / ".citewell-bench").iterdir()] == [True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["default.toml", "both.jsonl"], "two settings files or more"),
        (["default.toml", "none.toml", "both.jsonl"], "There is no file none.toml"),
        (["default.toml", "one.toml", "none.jsonl"], "none.jsonl cannot be read"),
        (["default.toml", "pages.toml", "both.jsonl"], "differ in [loading]"),
        (["default.toml", "one.toml", "both.jsonl", "--judge", "oracle"], "There is no judge 'oracle'"),
        (["default.toml", "one.toml", "both.jsonl", "--index", "nowhere"], "There is no index in nowhere"),
        (["default.toml", "one.toml", "both.jsonl", "--worth", "0"], "--worth"),
    ],
)
def test_what_is_refused(folder: Path, citewell: Run, arguments: list[str], said: str) -> None:
    ran = citewell("compare", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
