"""`conversations list | show | delete`, `feedback export | unanswered`, and what `purge` does to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.conversations import Access, ConversationStore, Feedback, Thumb
from citewell.index import Index
from citewell.types import Principal
from tests.cli.conftest import FILES, Run

QUESTION = "When does the velocity rule flag a card?"
TEAM = Principal("anna", frozenset({"fraud_team"}))


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """In a folder with an index, a conversation of the service, with a praised turn."""
    monkeypatch.chdir(tmp_path)
    Path("manuals").mkdir()
    for name, text in FILES.items():
        Path("manuals", name).write_text(text, encoding="utf-8")
    with Index.create(".citewell") as index:
        index.add("manuals")
        mine = ConversationStore.at(Path(".citewell-service")).of("key:anna \x1b[31m", Access.to(index, TEAM))
        made = mine.start().id
        turn = mine.add(made, index.ask(QUESTION, principal=TEAM), groups=TEAM.groups)
        assert turn is not None
        mine.judge(turn.id, Feedback(Thumb.UP, comment="so it is \x1b[31m"))
    return made


def test_list_and_show(held: str, citewell: Run) -> None:
    (line,) = citewell("conversations", "list", "--json").json["conversations"]
    assert (line["conversation"], line["title"], line["turn_count"]) == (held, QUESTION, 1)
    assert citewell("conversations", "list", "--caller", "key:carl", "--json").json["conversations"] == []
    shown = citewell("conversations", "show", held, "--as", "fraud_team")
    assert "The velocity rule flags a card after nine payments within one hour. [1]" in shown.out
    assert "[1] Scoring thresholds" in shown.out
    assert "thumb up · so it is" in shown.out
    listed = citewell("conversations", "list")
    assert held in listed.out
    assert "\x1b" not in shown.out + listed.out


def test_a_reader_without_rights_is_shown_nothing(held: str, citewell: Run) -> None:
    shown = citewell("conversations", "show", held)
    assert "Withheld" in shown.out
    assert "nine payments" not in shown.out
    (turn,) = citewell("conversations", "show", held, "--json").json["turns"]
    assert (turn["withheld"], turn["answer"], turn["citations"], turn["feedback"]) == (True, "", [], None)


def test_delete(held: str, citewell: Run) -> None:
    unasked = citewell("conversations", "delete", held)
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    assert citewell("conversations", "delete", held, "--yes", "--json").json == {"version": 1, "deleted": held}
    assert "No conversations." in citewell("conversations", "list").out
    for command in (["show", held], ["delete", held, "--yes"]):
        assert citewell("conversations", *command).code == 2


def test_without_a_service_there_is_nothing_to_show(held: str, citewell: Run) -> None:
    for command in (["conversations", "list"], ["conversations", "show", held], ["feedback", "export"]):
        ran = citewell(*command, "--state", "elsewhere")
        assert (ran.code, "elsewhere" in ran.err) == (2, True)
    assert not Path("elsewhere").exists()


def test_what_is_exported_is_taken_by_the_bench(held: str, citewell: Run) -> None:
    exported = citewell("feedback", "export", "--state", ".citewell-service")
    assert exported.err == "1 candidate, 0 to be completed.\n"
    line = json.loads(exported.out)
    assert (line["question"], line["groups"], line["reviewed"]) == (QUESTION, ["fraud_team"], False)
    Path("candidates.jsonl").write_text(json.dumps(line | {"reviewed": True}) + "\n")
    assert citewell("testset", "check", "candidates.jsonl").code == 0
    scored = citewell("evaluate", "candidates.jsonl", "--json")
    assert scored.code == 0
    assert citewell("feedback", "export", "--json").json == {"version": 1, "candidates": [line], "left_out": 0}


PURGES: dict[str, Callable[[], None]] = {
    "in one run": lambda: None,
    "after one that was cut short": lambda: _purge_the_index_alone(),
}


def _purge_the_index_alone() -> None:
    with Index.open(".citewell") as index:
        index.purge("manuals/scoring.md")


@pytest.mark.parametrize("before", PURGES)
def test_a_purge_takes_the_turns_that_showed_it(held: str, citewell: Run, before: str) -> None:
    PURGES[before]()
    purged = citewell("purge", "manuals/scoring.md", "--yes", "--json").json
    assert (purged["purged"], purged["turns"]) == (True, 1)
    assert citewell("conversations", "list", "--json").json["conversations"] == []
    for path in Path(".citewell-service").rglob("*"):
        assert not path.is_file() or b"nine payments" not in path.read_bytes()
    again = citewell("purge", "manuals/scoring.md", "--yes")
    assert (again.code, "There is no document" in again.err) == (2, True)


def test_a_purge_says_so(held: str, citewell: Run) -> None:
    ran = citewell("purge", "manuals", "--yes")
    assert "1 turn of conversations" in ran.out


def test_a_purge_without_a_service_makes_none(held: str, citewell: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_SERVICE__STATE", "elsewhere")
    assert citewell("purge", "manuals/letter.md", "--yes", "--json").json["turns"] == 0
    assert not Path("elsewhere").exists()


def asked(question: str, outcome: str, *, caller: str = "anna", day: int = 1, understood: str = "") -> str:
    line = {"at": f"2026-11-{day:02}T10:00:00+00:00", "caller": caller, "action": "ask", "asked": question}
    return json.dumps({**line, "outcome": outcome, "understood": understood})


def test_a_follow_up_is_listed_as_it_was_understood(tmp_path: Path, citewell: Run) -> None:
    parking, cards = "What does parking cost for a motorbike?", "What does a card cost for a motorbike?"
    lines = [
        asked("And for a motorbike?", "abstained", understood=parking),
        asked("And for a motorbike?", "abstained", day=2, understood=cards),
        asked("and for a  motorbike?", "abstained", day=3, understood=parking),
        asked("And for a lorry?", "abstained", day=4, understood="What does parking cost for a lorry?"),
        asked("And for a lorry?", "", day=5, understood="What does a card cost for a lorry?"),
        asked("How is a starter fed?", "abstained", day=5),
    ]
    tmp_path.joinpath("audit.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = citewell("feedback", "unanswered", "--state", str(tmp_path), "--json").json["unanswered"]
    assert {(each["question"], each["understood"], each["times"]) for each in told} == {
        ("And for a motorbike?", parking, 2),
        ("And for a motorbike?", cards, 1),
        ("And for a lorry?", "What does parking cost for a lorry?", 1),
        ("How is a starter fed?", None, 1),
    }
    shown = citewell("feedback", "unanswered", "--state", str(tmp_path)).out
    assert "understood as" in shown
    assert parking in shown


def test_what_was_never_answered_is_listed(tmp_path: Path, citewell: Run) -> None:
    lines = [
        asked("What does parking cost?", "abstained", day=1),
        asked("How is a sourdough starter fed? \x1b[31m", "abstained", day=2),
        asked("how is a  sourdough starter fed? \x1b[31m", "abstained", caller="carl", day=3),
        asked("When do branches open?", "abstained", day=3),
        asked("When do branches open?", "", day=4),
        asked("What does parking cost?", "left", day=5),
        '{"action": "ask", "asked": "cut o',
        json.dumps({"action": "search", "asked": "parking", "at": "2026-11-01T10:00:00+00:00"}),
    ]
    tmp_path.joinpath("audit.jsonl").write_text("\n".join(lines), encoding="utf-8")
    told = citewell("feedback", "unanswered", "--state", str(tmp_path), "--json").json["unanswered"]
    assert [(each["question"][:31], each["times"], each["callers"]) for each in told] == [
        ("How is a sourdough starter fed?", 2, 2),
        ("What does parking cost?", 1, 1),
    ]
    assert told[0]["last"] == "2026-11-03T10:00:00+00:00"
    shown = citewell("feedback", "unanswered", "--state", str(tmp_path)).out
    assert [line.split()[:2] for line in shown.splitlines()[1:]] == [["2", "2"], ["1", "1"]]
    assert "\x1b" not in shown
    assert citewell("feedback", "unanswered", "--state", str(tmp_path / "none"), "--json").json["unanswered"] == []
