"""`ask`, `search`, `status`, `documents` and `show`: what a person reads, and what a program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import FILES, Ran, Run, program

QUESTION = "How many days does a customer have to dispute a card payment?"
OFF_TOPIC = "Which glacier feeds the longest river of Patagonia?"
CITATION_KEYS = {
    *("n", "chunk", "document", "title", "source", "section", "page", "page_number", "quote", "start", "end", "link")
}
PASSAGE_KEYS = {
    *("chunk", "document", "title", "source", "section", "page", "page_number", "start", "end", "text"),
}
HIT_KEYS = PASSAGE_KEYS | {"rank", "score", "scale", "lists", "parent", "alike"}
DOCUMENT_KEYS = {
    *("document", "title", "source", "document_version", "valid_from", "valid_to", "language", "trust", "groups"),
    *("parent", "lost", "number", "indexed_at", "expires", "fields"),
}


def titles(ran: Ran) -> list[str]:
    return [document["title"] for document in ran.json["documents"]]


def test_ask_prints_the_answer_then_its_sources(bank: Path) -> None:
    ran = program("ask", QUESTION)
    assert (ran.code, ran.err) == (0, "")
    answer, sources = ran.out.split("\n\n", 1)
    assert "A customer has 120 days from the transaction date to dispute a card payment. [1]" in answer
    lines = sources.splitlines()
    assert lines[0] == "[1] Fraud Policy Manual 2026, 4.2 Time limits for disputes"
    assert lines[1] == f"    {(bank / 'manuals' / 'manual-2026.md').as_uri()}"
    assert "\x1b" not in ran.out


def test_ask_as_json(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", QUESTION, "--json")
    answer = ran.json
    assert list(answer) == [
        *("version", "question", "answer", "abstained", "reason", "sentences", "citations", "hits"),
        *("warnings", "usage", "searched", "decisions", "trace", "kept_back", "floor"),
    ]
    assert (answer["version"], answer["question"], answer["abstained"], answer["reason"]) == (1, QUESTION, False, "")
    assert "120 days" in answer["answer"]
    assert answer["sentences"][0]["citations"] == [1]
    assert set(answer["sentences"][0]) == {"text", "citations"}
    citation = answer["citations"][0]
    assert set(citation) == CITATION_KEYS
    assert citation["n"] == 1
    assert "120 days" in citation["quote"]
    assert citation["chunk"] in {hit["chunk"] for hit in answer["hits"]}
    assert all(set(hit) == HIT_KEYS for hit in answer["hits"])
    assert answer["usage"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    assert {"dense", "keyword", "fuse", "floor", "answer"} <= {step["step"] for step in answer["trace"]}
    assert all(set(step) == {"step", "ms", "in", "out"} for step in answer["trace"])


def test_a_question_may_come_from_standard_input(bank: Path, citewell: Run) -> None:
    assert citewell("ask", "-", "--json", stdin=f"{QUESTION}\n".encode()).json["question"] == QUESTION
    assert "120 days" in citewell("search", "-", stdin=QUESTION.encode()).out


def test_an_abstention_says_why_and_is_no_failure(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", OFF_TOPIC)
    assert ran.code == 0
    assert ran.out.splitlines()[0].startswith("I don't know")
    assert ran.out.splitlines()[1].startswith("Reason: ")
    answer = citewell("ask", OFF_TOPIC, "--json").json
    assert (answer["abstained"], answer["citations"]) == (True, [])
    assert answer["reason"]


def test_groups_open_what_they_may_read_and_nothing_else(bank: Path, citewell: Run) -> None:
    assert "nine payments" not in citewell("search", "velocity rule payments in an hour").out
    assert "nine payments" not in citewell("search", "velocity rule payments in an hour", "--as", "legal").out
    as_team = citewell("search", "velocity rule payments in an hour", "--as", "legal", "--as", "fraud_team")
    assert "nine payments" in as_team.out
    assert "Scoring thresholds" not in titles(citewell("documents", "--json"))
    assert "Scoring thresholds" in titles(citewell("documents", "--json", "--as", "fraud_team"))


READING = [
    ("search", "velocity rule payments in an hour"),
    ("ask", "When does the velocity rule flag a card?"),
    ("documents",),
    ("show", "manuals/manual-2026.md"),
]


@pytest.mark.parametrize("command", READING, ids=[command[0] for command in READING])
def test_a_group_that_no_document_is_for_is_told_with_the_one_that_was_meant(
    command: tuple[str, ...], bank: Path, citewell: Run
) -> None:
    for as_json in ((), ("--json",)):
        ran = citewell(*command, "--as", "fraud_taem", *as_json)
        assert ran.code == 0
        assert ran.err.splitlines()[0] == (
            "citewell: no document of this index is for the group 'fraud_taem'; it reads what everyone may."
        )
        assert "Is 'fraud_team' meant?" in ran.err
        assert "fraud_t" not in ran.out
        assert citewell(*command, "--as", "fraud_team", *as_json).err == ""
    assert "meant?" not in citewell(*command, "--as", "legal").err


def test_it_is_told_once_in_a_conversation(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", QUESTION, "--chat", "--as", "fraud_taem", stdin=b"And with a debit card?\n")
    assert ran.err.count("'fraud_taem'") == 1


def test_a_document_of_others_looks_like_one_that_is_not_there(bank: Path, citewell: Run) -> None:
    hidden, absent = citewell("show", "manuals/scoring.md"), citewell("show", "manuals/nothing.md")
    assert hidden.code == absent.code == 2
    assert hidden.err.replace("scoring", "nothing") == absent.err


def test_as_of_reads_what_was_in_force(bank: Path, citewell: Run) -> None:
    then = citewell("ask", QUESTION, "--as-of", "2025-06-01")
    assert "90 days" in then.out
    assert "120 days" not in then.out
    assert "Fraud Policy Manual 2025" in titles(citewell("documents", "--json", "--as-of", "2025-06-01"))
    assert "Fraud Policy Manual 2025" not in titles(citewell("documents", "--json"))


def test_show_a_version_by_its_day(bank: Path, citewell: Run) -> None:
    then = citewell("show", "manuals/manual-2025.md", "--as-of", "2025-06-01", "--json").json
    assert (then["title"], then["chunks"], then["number"]) == ("Fraud Policy Manual 2025", 1, 1)
    assert citewell("show", "manuals/manual-2025.md", "--json").json == then  # with no day: in force or not
    ran = citewell("show", "manuals/manual-2025.md", "--as-of", "2026-02-01")
    assert (ran.code, ran.out) == (2, "")
    assert "There is no document or chunk 'manuals/manual-2025.md'." in ran.err


def test_where_leaves_documents_out(bank: Path, citewell: Run) -> None:
    assert titles(citewell("documents", "--json", "--where", "title contains Policy")) == ["Fraud Policy Manual 2026"]
    both = ["--where", "title contains a", "--where", "not title contains Policy"]
    assert titles(citewell("documents", "--json", *both)) == ["Letter from [bold]a customer[/bold]"]
    hits = citewell("search", "card payment", "--json", "--where", "title contains Letter").json["hits"]
    assert {hit["title"] for hit in hits} == {"Letter from [bold]a customer[/bold]"}
    assert citewell("ask", QUESTION, "--json", "--where", "title contains Letter").json["abstained"] is True
    # It narrows what may be read, and opens nothing.
    assert titles(citewell("documents", "--json", "--where", "title contains Scoring")) == []


def test_search_as_json(bank: Path, citewell: Run) -> None:
    found = citewell("search", "R-17", "-k", "1", "--json").json
    assert list(found) == ["version", "query", "hits"]
    assert (found["version"], found["query"], len(found["hits"])) == (1, "R-17", 1)
    hit = found["hits"][0]
    assert set(hit) == HIT_KEYS
    assert (hit["rank"], hit["scale"], hit["lists"]["keyword"]) == (1, "convex", 1)
    assert "R-17" in hit["text"]
    assert hit["section"] == "Fraud Policy Manual 2026 > 7.1 Decline codes"


def test_search_prints_the_best_first_with_the_id_to_show(bank: Path, citewell: Run) -> None:
    ran = citewell("search", "R-17", "-k", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "1. Fraud Policy Manual 2026, 7.1 Decline codes"
    assert "R-17 means suspected fraud" in lines[1]
    shown = citewell("show", lines[2].strip())
    assert shown.code == 0
    assert "R-17 means suspected fraud" in shown.out


def test_explain_shows_what_the_floor_kept_back(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", "How is a sourdough starter fed?", "--explain")
    assert "I don't know" in ran.out
    table = ran.out.split("\n\n")[1].splitlines()
    assert re.split(r"\s{2,}", table[0]) == ["found, and not answered from", "cosine", "evidence", "because"]
    assert all(re.search(r"-?0\.\d{3}\s+-?0\.\d{3}\s+its evidence is under the floor$", line) for line in table[1:-1])
    assert table[-1] == "Floor: 0.40, built-in (docs/floor.md says what evidence is)."
    answer = citewell("ask", "How is a sourdough starter fed?", "--json").json
    assert (answer["hits"], answer["floor"]) == ([], {"least": 0.4, "origin": "built-in", "made": None})
    assert len(answer["kept_back"]) == len(table) - 2
    assert set(answer["kept_back"][0]) == PASSAGE_KEYS - {"text"} | {"query", "cosine", "evidence", "why"}
    evidence = [each["evidence"] for each in answer["kept_back"]]
    assert evidence == sorted(evidence, reverse=True)
    assert evidence[0] < answer["floor"]["least"]


def test_explain_says_where_a_code_decides(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", "What does R-99 mean?", "--explain")
    assert "Reason: the code that is asked for is in no passage found." in ran.out
    kept_back = citewell("ask", "What does R-99 mean?", "--json").json["kept_back"]
    assert kept_back
    assert {(each["evidence"], each["why"]) for each in kept_back} == {
        (None, "the code that is asked for is in no passage found")
    }
    assert "has the code" in citewell("search", "What does R-17 mean?", "--explain").out


def test_what_others_may_not_read_is_not_kept_back_either(bank: Path, citewell: Run) -> None:
    """What nobody showed the asker before the floor, nobody shows after it."""
    asked = ["ask", "How is a sourdough starter fed?", "--json"]
    mine, theirs = citewell(*asked).json, citewell(*asked, "--as", "fraud_team").json
    assert "Scoring thresholds" not in {each["title"] for each in mine["kept_back"]}
    assert "Scoring thresholds" in {each["title"] for each in theirs["kept_back"]}


def test_explain_shows_ranks_and_steps(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", QUESTION, "--explain")
    tables = ran.out.split("\n\n")[2:]
    columns = ["passage", "dense", "keyword", "maxsim", "convex", "cosine"]
    assert re.split(r"\s+", tables[0].splitlines()[0].strip()) == columns
    first = r"\s*1\s+Fraud Policy Manual 2026, 4.2 .*\s1\s+1\s+1\s+1\.0000\s+0\.\d{3}"
    assert re.match(first, tables[0].splitlines()[1])
    assert tables[1].splitlines()[-1].startswith("Floor: 0.40, built-in")
    assert tables[2].split()[:4] == ["step", "ms", "in", "out"]
    assert "floor" in tables[2]
    searched = citewell("search", "How is a sourdough starter fed?", "--explain").out.split("\n\n")[-1].splitlines()
    assert searched[0].split()[-2:] == ["cosine", "evidence"]
    assert searched[-1].startswith("Floor: 0.40, built-in")


def test_a_conversation(bank: Path, citewell: Run) -> None:
    """The second question leans on the first; there is nothing on its code, and no answer to the first once more."""
    ran = citewell("ask", "What does decline code R-17 mean?", "--chat", "--explain", stdin=b"And R-4?\n\n")
    assert ran.code == 0
    assert ran.out.count("R-17 means suspected fraud") == 1
    assert "\n\nAnd R-4?\nI don't know" in ran.out
    (searched,) = re.findall("Searched too: (.*)", ran.out)
    assert "R-4" in searched
    assert "decline code" in searched
    assert ran.out.count("floor ") >= 2


def test_a_line_that_is_no_text_is_a_question_like_any_other(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", "What does decline code R-17 mean?", "--chat", stdin=b"And how, \xff caf\xe9?\nWhy?\n")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\nWhy?\n") == 1


def test_the_first_question_of_a_conversation_is_not_read_from_its_input(bank: Path, citewell: Run) -> None:
    ran = citewell("ask", "-", "--chat", stdin=b"What does decline code R-17 mean?\n")
    assert ran.code == 2
    assert "With --chat, give the first question itself" in ran.err


@pytest.mark.parametrize("command", [["search", "stolen umbrella refund"], ["ask", "What was stolen on the ferry?"]])
def test_a_hostile_document_cannot_steer_the_terminal(bank: Path, citewell: Run, command: list[str]) -> None:
    ran = citewell(*command)
    assert "ferry" in ran.out
    assert "[red]bank[/red]" in citewell("search", "stolen umbrella refund").out
    assert ":smile:" in ran.out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out)


def test_status(bank: Path, citewell: Run) -> None:
    state = citewell("status", "--json").json
    assert list(state) == [
        *("version", "path", "documents", "chunks", "entries", "embedder", "analyser", "generation", "created"),
        *("bytes_on_disk", "floor", "past_versions", "sparse", "drift"),
    ]
    assert state["floor"] == {"least": 0.4, "origin": "built-in", "made": None}
    assert (state["version"], state["path"], state["documents"]) == (1, ".citewell", 4)
    assert state["chunks"] >= 5
    assert state["bytes_on_disk"] > 1000
    lines = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in citewell("status").out.splitlines())
    assert (lines["documents"], lines["past versions"]) == ("4", "0")
    assert (lines["embedder"], lines["floor"]) == (state["embedder"], "0.40, built-in")
    assert (lines["sparse encoder"], state["sparse"]) == ("none", None)


def test_documents(bank: Path, citewell: Run) -> None:
    listed = citewell("documents", "--json").json
    assert list(listed) == ["version", "documents"]
    assert all(set(document) == DOCUMENT_KEYS for document in listed["documents"])
    manual = next(item for item in listed["documents"] if item["title"] == "Fraud Policy Manual 2026")
    assert (manual["valid_from"], manual["valid_to"], manual["groups"]) == ("2026-01-01", None, ["everyone"])
    assert manual["source"] == (bank / "manuals" / "manual-2026.md").as_uri()
    lines = citewell("documents").out.splitlines()
    place = lines.index("Fraud Policy Manual 2026")
    assert lines[place + 1] == "  manuals/manual-2026.md · from 2026-01-01 · everyone"
    assert lines[place + 2] == f"  {manual['document']}"


def test_show_takes_a_path_a_source_and_an_id(bank: Path, citewell: Run) -> None:
    by_path = citewell("show", "manuals/manual-2026.md", "--json")
    document = by_path.json
    assert set(document) == DOCUMENT_KEYS | {
        *(
            "version",
            "kind",
            "characters",
            "chunks",
            "pages",
            "page_problems",
            "outline",
            "metadata",
            "links",
            "confidence",
        ),
    }
    assert (document["version"], document["kind"]) == (1, "document")
    assert citewell("show", document["source"], "--json") == by_path
    assert citewell("show", document["document"], "--json") == by_path
    assert citewell("show", f"{document['source']}#page=2", "--json") == by_path  # a citation's link
    assert [(item["depth"], item["text"]) for item in document["outline"]] == [
        (1, "Fraud Policy Manual 2026"),
        (2, "4.2 Time limits for disputes"),
        (2, "7.1 Decline codes"),
    ]


def test_show_prints_a_documents_facts_and_outline(bank: Path, citewell: Run) -> None:
    facts, outline = citewell("show", "manuals/manual-2026.md").out.split("\n\n")
    assert facts.splitlines()[0] == "Fraud Policy Manual 2026"
    lines = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in facts.splitlines()[1:])
    assert (lines["source"], lines["in force"]) == ("manuals/manual-2026.md", "from 2026-01-01")
    assert lines["number"] == "1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", lines["indexed"])
    assert outline.splitlines()[1] == "    4.2 Time limits for disputes"


def test_show_a_chunk(bank: Path, citewell: Run) -> None:
    hit = citewell("search", "R-17", "-k", "1", "--json").json["hits"][0]
    chunk = citewell("show", hit["chunk"], "--json").json
    assert set(chunk) == PASSAGE_KEYS | {"version", "kind", "groups", "preamble", "parent"}
    assert (chunk["kind"], chunk["groups"]) == ("chunk", ["everyone"])
    assert {key: chunk[key] for key in PASSAGE_KEYS} == {key: hit[key] for key in PASSAGE_KEYS}
    assert citewell("show", hit["chunk"]).out.endswith(f"\n\n{hit['text']}\n")


def test_the_fixture_is_what_the_tests_think(bank: Path) -> None:
    assert {path.name for path in (bank / "manuals").iterdir()} == set(FILES)
