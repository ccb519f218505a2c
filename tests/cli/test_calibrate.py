"""`calibrate`: what it prints, keeps and draws, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.index import Index
from citewell.loading.given import from_text
from tests.cli.conftest import Run

FACTS = {
    "ferry": "The ferry to the northern island leaves the old harbour at nine in the morning.",
    "museum": "The museum of clocks is closed on Mondays and shows a water clock from Alexandria.",
    "bakery": "The bakery in Mill Lane sells rye bread on Fridays and almond cake on Sundays.",
    "tram": "Tram line four runs every six minutes between the station and the botanical garden.",
    "library": "The city library lends up to twelve books for four weeks to anyone with a card.",
    "pool": "Children under six swim for free in the pool, which opens at seven.",
    "tower": "The bell tower has 312 steps and was built in 1487 from red sandstone.",
    "market": "Fishermen sell mackerel at the market on the quay until noon.",
    "theatre": "The theatre plays comedies in winter and has seats for four hundred people.",
    "bridge": "Lorries above eleven tonnes may not cross the wooden bridge.",
}
INSIDE = [
    "When does the ferry to the northern island leave?",
    "From which harbour does the ferry leave?",
    "On which day is the museum of clocks closed?",
    "Where does the water clock in the museum come from?",
    "When does the bakery sell rye bread?",
    "On which day is there almond cake at the bakery?",
    "How often does tram line four run?",
    "Where does tram line four go from the station?",
    "How many books does the city library lend?",
    "For how many weeks does the library lend books?",
    "Who swims for free in the pool?",
    "At what time does the swimming pool open?",
    "How many steps does the bell tower have?",
    "Of what stone was the bell tower built?",
    "Where do fishermen sell mackerel?",
    "Until when is fish sold on the quay?",
    "When does the theatre play comedies?",
    "How many seats does the theatre have?",
    "Which lorries may not cross the wooden bridge?",
    "How heavy may a lorry on the wooden bridge be?",
]
OUTSIDE = [
    "Which enzyme splits lactose?",
    "Who composed the opera about the barber of Seville?",
    "What is the boiling point of nitrogen?",
    "How do I reset my password?",
    "Who won the chess championship?",
    "What does photosynthesis produce?",
    "Which vitamin prevents scurvy?",
    "How is interest on a mortgage calculated?",
    "What is the capital of Mongolia?",
    "Why do leaves turn yellow?",
    "Which planet has the largest moon?",
    "How do transistors amplify a signal?",
    "What is the dosage of ibuprofen?",
    "Who wrote the novel about the white whale?",
    "What causes inflation?",
    "How many chromosomes do humans have?",
    "Which metal is liquid at room temperature?",
    "What is the derivative of a sine?",
    "When was the printing press invented?",
    "How do vaccines work?",
]


@pytest.fixture(scope="module")
def _town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("town") / ".citewell"
    with Index.create(path) as index:
        index.add_documents([from_text(text, source=f"https://town.example/{name}") for name, text in FACTS.items()])
    return path


@pytest.fixture
def town(_town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of its own in the current folder, and a test set about it."""
    shutil.copytree(_town, tmp_path / ".citewell")
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, INSIDE, OUTSIDE)


def write(folder: Path, inside: Sequence[str], outside: Sequence[str]) -> Path:
    lines = [{"question": text, "answerable": text in inside} for text in (*inside, *outside)]
    path = folder / "testset.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def floor_now(citewell: Run) -> tuple[str, float | None]:
    floor = citewell("status", "--json").json["floor"]
    return floor["origin"], floor["least"]


def test_the_curve_the_verdict_and_what_holds_from_then_on(town: Path, citewell: Run) -> None:
    assert floor_now(citewell) == ("built-in", 0.4)
    ran = citewell("calibrate", town)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "20 answerable and 20 unanswerable questions, weighed as 50.0% unanswerable"
    columns = ["floor", "refusal precision", "refusal recall", "answerable answered", "right decisions"]
    assert re.split(r"  +", lines[1].strip()) == columns
    rows = [row.split() for row in lines[2 : lines.index("")]]
    assert 9 <= len(rows) <= 10
    assert rows[0][1:] == ["-", "0.000", "1.000", "0.500"]
    assert [row[-1] == "best" for row in rows].count(True) == 1
    assert re.search(r"floor now \(0\.40, built-in\) +best floor \(0\.\d\d, held out\)", ran.out)
    found = re.search(r"^(0\.\d{3}) is the floor of this index now\.$", ran.out, re.MULTILINE)
    assert found is not None
    assert lines[-1].startswith("AUC 1.000 (1.000 to 1.000); right decisions held out, against no floor: +0.")

    origin, least = floor_now(citewell)
    assert (origin, f"{least:.3f}") == ("calibrated", found[1])
    assert re.search(r"^floor +0\.\d\d, calibrated on \d{4}-\d\d-\d\d$", citewell("status").out, re.MULTILINE)
    assert citewell("ask", OUTSIDE[0], "--json").json["abstained"]
    assert not citewell("ask", INSIDE[0], "--json").json["abstained"]


def test_a_dry_run_keeps_what_there_is(town: Path, citewell: Run) -> None:
    ran = citewell("calibrate", town, "--dry-run")
    assert ran.code == 0
    assert "would be the floor; nothing was changed" in ran.out
    assert floor_now(citewell) == ("built-in", 0.4)


def test_as_json_with_a_rate_and_an_objective(town: Path, citewell: Run) -> None:
    ran = citewell("calibrate", town, "--unanswerable", "0.1", "--answer-at-least", "1", "--json")
    assert (ran.code, ran.err) == (0, "")
    shape = ran.json
    assert list(shape) == [
        "version", "answerable", "unanswerable", "objective", "separates", "floor", "kept", "best", "auc", "gain",
        "held_out", "fold_floors", "before", "curve",
    ]  # fmt: skip
    assert shape["objective"] == {"unanswerable": 0.1, "answer_at_least": 1.0}
    assert shape["separates"]
    assert shape["floor"] == shape["best"]["floor"]
    assert shape["best"]["answered"] == 1
    assert shape["best"] in shape["curve"]
    assert (shape["before"]["floor"], shape["before"]["origin"]) == (0.4, "built-in")
    assert set(shape["held_out"]) == {"refusal_precision", "refusal_recall", "answered", "right"}
    assert set(shape["auc"]) == {"mean", "low", "high", "questions"}
    assert floor_now(citewell) == ("calibrated", shape["floor"])


def test_where_nothing_separates_it_says_so_and_answers_do_too(town: Path, citewell: Run) -> None:
    questions = INSIDE * 2
    lines = [{"question": text, "answerable": place < len(INSIDE)} for place, text in enumerate(questions)]
    town.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = citewell("calibrate", town)
    assert ran.code == 0
    assert "\nNothing separates.\nAUC 0.500 (" in ran.out
    assert ran.out.endswith("No floor is set, `ask` only checks that some sentence is about the question.\n")
    assert floor_now(citewell) == ("nothing separates", None)
    answer = citewell("ask", OUTSIDE[0], "--json").json
    assert answer["abstained"]
    assert "no floor that tells answerable questions from others" in answer["warnings"][0]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_curve_is_drawn(town: Path, citewell: Run, suffix: str) -> None:
    pictures = [f"{name}.{suffix}" for name in ("one", "two")]
    for picture in pictures:
        assert citewell("calibrate", town, "--dry-run", "--curve", picture).code == 0
    one, two = (Path(picture).read_bytes() for picture in pictures)
    assert one == two
    assert one.startswith(b"<?xml" if suffix == "svg" else b"\x89PNG")
    assert suffix == "png" or b">refusal precision<" in one


def test_what_it_refuses(town: Path, citewell: Run) -> None:
    assert "not written as .pdf" in citewell("calibrate", town, "--curve", "curve.pdf").err
    assert "no folder" in citewell("calibrate", town, "--curve", "there/is/none.svg").err
    assert citewell("calibrate", town, "--unanswerable", "1.5").code == 2
    few = citewell("calibrate", write(town.parent, INSIDE, OUTSIDE[:5]), "--json")
    assert few.code == 2
    assert few.json["error"]["kind"] == "UsageError"
    assert "Add 15 unanswerable questions" in few.err
    assert floor_now(citewell) == ("built-in", 0.4)


def test_a_floor_in_the_settings_is_named(town: Path, citewell: Run) -> None:
    Path("citewell.toml").write_text("[retrieval]\nfloor = 0.3\n")
    ran = citewell("calibrate", town)
    assert ran.code == 0
    assert "The settings set retrieval.floor" in ran.err
    assert "floor now (0.30, settings)" in ran.out
    assert floor_now(citewell) == ("settings", 0.3)
