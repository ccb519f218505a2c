"""Stored conversations over HTTP: they go on, they are one's own, and they lose what one may not read any more."""

from __future__ import annotations

from tests.serving.conftest import QUESTION, RULE
from tests.serving.served import Served, events, uploaded


def test_a_conversation_goes_on_and_is_kept(own: Served) -> None:
    client = own.client("ann")
    started = client.post("/v1/conversations")
    talk = started.json()["conversation"]
    assert (started.status_code, started.headers["location"]) == (201, f"/v1/conversations/{talk}")
    first = client.post("/v1/ask", json={"question": QUESTION, "conversation": talk}).json()
    assert (first["conversation"], first["answer"]) == (talk, f"{RULE} [1]")
    stream = client.post("/v1/ask", json={"question": "And why?", "conversation": talk, "stream": True})
    second = events(stream.text)[-1][1]
    assert len(second["searched"]) > 1  # it was asked with the turn before
    stored = client.get(f"/v1/conversations/{talk}").json()
    assert [turn["turn"] for turn in stored["turns"]] == [first["turn"], second["turn"]]
    assert stored["turns"][0]["citations"] == first["citations"]
    assert client.patch(f"/v1/conversations/{talk}", json={"name": "Disputes"}).json()["title"] == "Disputes"
    assert [each["title"] for each in client.get("/v1/conversations").json()["conversations"]] == ["Disputes"]
    judged = client.post("/v1/feedback", json={"turn": first["turn"], "thumb": "down", "wrong": [1], "comment": "Old"})
    assert judged.json()["feedback"] == {"thumb": "down", "wrong": [1], "comment": "Old"}
    assert client.post("/v1/feedback", json={"turn": first["turn"], "wrong": [9]}).status_code == 400
    assert client.delete(f"/v1/conversations/{talk}").json()["deleted"] == talk
    assert client.get(f"/v1/conversations/{talk}").status_code == 404
    both = {"question": QUESTION, "conversation": talk, "turns": [{"question": "x"}]}
    assert client.post("/v1/ask", json=both).status_code == 422
    assert client.post("/v1/ask", json={"question": QUESTION, "conversation": talk}).status_code == 404


def test_an_answer_that_one_may_not_read_any_more_is_withheld(own: Served) -> None:
    ann, root = own.client("ann", "write", "board"), own.client("root", "admin")
    text = "# Plans\n\nThe branch in Northmoor will be sold in May.\n"
    document = uploaded(ann, "plans.md", text, groups="board")["result"]["files"][0]["document"]
    talk = ann.post("/v1/conversations").json()["conversation"]
    asked = {"question": "When will the branch in Northmoor be sold?", "conversation": talk}
    assert "May" in ann.post("/v1/ask", json=asked).json()["answer"]
    assert root.patch(f"/v1/documents/{document}", json={"groups": ["directors"]}).status_code == 200
    told = ann.get(f"/v1/conversations/{talk}")
    assert told.json()["turns"][0]["withheld"]
    assert "May" not in told.text
    assert "Northmoor" not in ann.post("/v1/ask", json={**asked, "question": "And then?"}).json()["answer"]


def test_a_question_that_is_narrowed_is_not_asked_with_what_it_leaves_out(own: Served) -> None:
    ann = own.client("ann", "read", "board")
    talk = ann.post("/v1/conversations").json()["conversation"]
    ann.post("/v1/ask", json={"question": "What is the code word for the vault?", "conversation": talk})
    narrowed = ann.post("/v1/ask", json={"question": "And why?", "conversation": talk, "groups": []}).json()
    assert not any("vault" in text for text in narrowed["searched"])
    assert "Meadow" not in str(narrowed)
