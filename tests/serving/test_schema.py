"""The OpenAPI schema: complete, and what is really sent is what it says."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from citewell.serving import examples, schemas
from tests.serving.conftest import QUESTION
from tests.serving.served import Served, uploaded

OPEN = {"/health", "/ready"}


def operations(served: Served) -> list[tuple[str, str, dict[str, Any]]]:
    paths = served.client().get("/openapi.json").json()["paths"]
    return [(method, path, said) for path, methods in paths.items() for method, said in methods.items()]


def test_every_route_has_a_tag_a_description_and_its_errors(read_only: Served) -> None:
    found = operations(read_only)
    assert len(found) >= 15
    names = [said["operationId"] for _, _, said in found]
    assert len(set(names)) == len(names)
    for method, path, said in found:
        assert said["tags"], path
        assert said["description"], path
        if path not in OPEN:
            assert {"401", "403", "422", "429", "500", "503"} <= said["responses"].keys(), (method, path)
            assert said["security"], (method, path)
        for status, response in said["responses"].items():
            for kind, content in response["content"].items():
                assert kind != "application/json" or "example" in content, (method, path, status)


def test_the_examples_are_whole(read_only: Served) -> None:
    ask = next(said for _, path, said in operations(read_only) if path == "/v1/ask")
    good = ask["responses"]["200"]["content"]
    assert good["application/json"]["example"] == examples.ANSWER
    assert good["application/json"]["schema"] == {"$ref": "#/components/schemas/CitedAnswer"}
    assert good["text/event-stream"]["example"].startswith("event: step\ndata: {")


@pytest.mark.parametrize(
    ("model", "example"),
    [
        (schemas.CitedAnswer, examples.ANSWER),
        (schemas.FoundPassages, examples.SEARCH),
        (schemas.DocumentList, examples.DOCUMENTS),
        (schemas.WholeDocument, examples.WHOLE),
        (schemas.DocumentText, examples.TEXT),
        (schemas.DeletionReceipt, examples.RECEIPT),
        (schemas.RetaggedDocument, examples.RETAGGED),
        (schemas.JobStatus, examples.JOB),
        (schemas.JobList, examples.JOBS),
        (schemas.BenchRuns, examples.RUNS),
        (schemas.TestSets, examples.TESTSETS),
        (schemas.ConversationList, examples.CONVERSATIONS),
        (schemas.StoredConversation, examples.CONVERSATION),
        (schemas.StoredConversation, examples.NEW_CONVERSATION),
        (schemas.StoredTurnBody, examples.TURN),
    ],
)
def test_the_examples_are_what_the_schema_says(model: type[BaseModel], example: dict[str, Any]) -> None:
    model.model_validate(example)


def test_what_is_sent_is_what_the_schema_says(own: Served) -> None:
    client = own.client("ann", "write", "fraud_team")
    schemas.CitedAnswer.model_validate(client.post("/v1/ask", json={"question": QUESTION}).json())
    schemas.FoundPassages.model_validate(client.post("/v1/search", json={"query": "disputes"}).json())
    job = uploaded(client, "fees.md", "# Fees\n\nA second card costs nine euros a year.\n")
    schemas.JobStatus.model_validate(job)
    schemas.UploadResult.model_validate(job["result"])
    schemas.JobList.model_validate(client.get("/v1/jobs").json())
    listed = client.get("/v1/documents").json()
    schemas.DocumentList.model_validate(listed)
    place = f"/v1/documents/{job['result']['files'][0]['document']}"
    schemas.WholeDocument.model_validate(client.get(place).json())
    schemas.DocumentText.model_validate(client.get(f"{place}/text").json())
    schemas.RetaggedDocument.model_validate(client.patch(place, json={"version": "2"}).json())
    schemas.DeletionReceipt.model_validate(client.delete(place).json())
    schemas.ProblemBody.model_validate(client.get(place).json())
    talk = client.post("/v1/conversations").json()
    schemas.StoredConversation.model_validate(talk)
    answer = client.post("/v1/ask", json={"question": QUESTION, "conversation": talk["conversation"]}).json()
    schemas.CitedAnswer.model_validate(answer)
    judged = client.post("/v1/feedback", json={"turn": answer["turn"], "thumb": "up", "wrong": [1]}).json()
    schemas.StoredTurnBody.model_validate(judged)
    schemas.StoredConversation.model_validate(client.get(f"/v1/conversations/{talk['conversation']}").json())
    schemas.ConversationList.model_validate(client.get("/v1/conversations").json())
    schemas.Health.model_validate(client.get("/ready").json())
