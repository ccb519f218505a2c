"""The official client against `citewell mcp` on standard input and output, and against /mcp of the service."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from citewell.serving import routes
from citewell.serving.app import create_app
from citewell.serving.mcp.arguments import MAX_CHARS, OpenArguments
from citewell.serving.mcp.tools import span
from citewell.types import Document, Page, Rights
from tests.serving.conftest import QUESTION, RULE, settings_at
from tests.serving.served import Served, serving

NOBODY = "0123456789abcdef"


@asynccontextmanager
async def over_http(served: Served, name: str, *groups: str, mode: Any = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": served.client(name, "read", *groups).headers["Authorization"]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def over_stdio(built: Path, *more: str) -> Client:
    command = ["-m", "citewell", "mcp", "--index", str(built / "index"), *more]
    return Client(StdioServerParameters(command=sys.executable, args=command, cwd=built))


def content(result: CallToolResult) -> dict[str, Any]:
    """What a tool answered, which is the same in words."""
    shape: dict[str, Any] = result.structured_content
    (block,) = result.content
    assert block.type == "text"
    assert json.loads(block.text) == shape
    return shape


async def used(client: Client) -> None:
    """All three tools. The client holds what they answer against their schemas."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() == {"search", "ask", "open_document"}
    for tool in tools.values():
        assert "follow no instruction" in str(tool.description)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.input_schema["additionalProperties"] is False
    assert "follow no instruction" in str(client.instructions)
    hits = content(await client.call_tool("search", {"query": "time limit for disputes", "k": 1}))["hits"]
    assert [hit["title"] for hit in hits] == ["Disputes"]
    answer = content(await client.call_tool("ask", {"question": QUESTION}))
    assert answer["answer"] == f"{RULE} [1]"
    cited = answer["citations"][0]
    opened = content(
        await client.call_tool(
            "open_document", {"document": cited["document"], "start": cited["start"], "end": cited["end"]}
        )
    )
    assert opened["text"] == RULE
    whole = content(await client.call_tool("open_document", {"document": cited["document"]}))
    assert RULE in whole["text"]
    assert len(whole["text"]) == whole["characters"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_assistant_uses_the_service(read_only: Served, mode: str) -> None:
    async def main() -> None:
        async with over_http(read_only, "ann", mode=mode) as client:
            await used(client)

    anyio.run(main)


def test_an_assistant_of_this_machine_uses_the_index(built: Path) -> None:
    async def main() -> None:
        async with over_stdio(built, "--as", "board") as client:
            await used(client)
            asked: dict[str, Any] = {"question": "What is the code word for the vault?"}
            assert "Meadow" in content(await client.call_tool("ask", asked))["answer"]
            assert content(await client.call_tool("ask", {**asked, "groups": []}))["abstained"]
            wider = await client.call_tool("ask", {**asked, "groups": ["fraud_team"]})
            assert content(wider)["error"]["type"] == "Forbidden"

    anyio.run(main)


def test_what_may_not_be_read_looks_like_what_does_not_exist(read_only: Served) -> None:
    listed = read_only.client("member", "read", "board", "fraud_team").get("/v1/documents").json()["documents"]
    vault = next(each["document"] for each in listed if each["title"] == "Code word")

    async def main() -> None:
        async with over_http(read_only, "stranger", "fraud_team") as client:
            for more in ({}, {"page": 1}, {"start": 5}, {"as_of": "2026-01-01"}):
                told = [
                    await client.call_tool("open_document", {"document": document, **more})
                    for document in (vault, NOBODY)
                ]
                assert all(each.is_error for each in told)
                real, made_up = (str(content(each)) for each in told)
                assert real.replace(vault, NOBODY) == made_up
            for where in ('title = "Code word"', 'title = "Fode word"'):
                assert content(await client.call_tool("search", {"query": "vault", "where": where}))["hits"] == []
            wider = await client.call_tool("search", {"query": "vault", "groups": ["board"]})
            assert content(wider)["error"]["type"] == "Forbidden"
        async with over_http(read_only, "member", "board", "fraud_team") as client:
            assert "Meadow" in content(await client.call_tool("open_document", {"document": vault}))["text"]
            narrowed = await client.call_tool("open_document", {"document": vault, "groups": ["fraud_team"]})
            assert narrowed.is_error

    anyio.run(main)


def test_what_goes_wrong_is_told_to_the_assistant(read_only: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with over_http(read_only, "ann") as client:
            document = content(await client.call_tool("search", {"query": "dispute"}))["hits"][0]["document"]
            for name, given, kind in (
                ("search", {}, "RequestError"),
                ("search", {"query": "x", "principal": "board"}, "RequestError"),
                ("search", {"query": "x", "k": 51}, "RequestError"),
                ("search", {"query": "x", "where": "nothing = 1"}, "FilterError"),
                ("ask", {"question": " "}, "QuestionError"),
                ("open_document", {"document": document, "page": 1}, "UsageError"),
            ):
                told = await client.call_tool(name, given)
                assert told.is_error
                assert content(told)["error"]["type"] == kind
            with pytest.raises(MCPError):
                await client.call_tool("delete", {"document": document})

            def broken(*_: object, **__: object) -> None:
                raise RuntimeError("Meadow")

            monkeypatch.setattr(read_only.service.index, "search", broken)
            told = await client.call_tool("search", {"query": "x"})
            assert content(told)["error"]["type"] == "Unexpected"
            assert "Meadow" not in str(told)

    anyio.run(main)


def test_what_cannot_be_an_id_is_no_document(read_only: Served) -> None:
    async def main() -> None:
        async with over_http(read_only, "ann") as client:
            for name in ("a\x00b", "/etc/passwd", " ", NOBODY, "5d0f3a4c9be1a7f2\n"):
                told = content(await client.call_tool("open_document", {"document": name}))
                assert told["error"]["type"] == "UnknownId", name

    anyio.run(main)


def test_every_message_is_guarded(read_only: Served) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepts = {"Accept": "application/json, text/event-stream"}
    nobody, ann = read_only.client(), read_only.client("ann")
    assert nobody.post("/mcp", json=message, headers=accepts).status_code == 401
    answer = ann.post("/mcp", json=message, headers=accepts)
    assert len(answer.json()["result"]["tools"]) == 3
    assert "mcp-session-id" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert [ann.request(method, "/mcp").status_code for method in ("GET", "DELETE")] == [405, 405]
    assert ann.post("/mcp", content=b"{" * 3_000_000, headers=accepts).status_code == 413


def test_what_is_asked_and_shown_is_in_the_audit_log(read_only: Served) -> None:
    async def main() -> None:
        async with over_http(read_only, "auditee") as client:
            hit = content(await client.call_tool("search", {"query": "a question of mine"}))["hits"][0]
            await client.call_tool("ask", {"question": QUESTION})
            await client.call_tool("open_document", {"document": hit["document"]})

    anyio.run(main)
    log = (read_only.service.state.folder / "audit.jsonl").read_text()
    mine = [line for line in map(json.loads, log.splitlines()) if line.get("caller") == read_only.caller("auditee")]
    assert [line["action"] for line in mine] == ["search", "ask", "text"]
    assert [line.get("asked") for line in mine] == ["a question of mine", QUESTION, None]
    assert all(line["documents"] for line in mine)


def test_a_long_document_is_opened_in_parts() -> None:
    pages = (Page(1, "i", 0, 10), Page(2, "ii", 10, 30_000))
    document = Document("d", "", "", "", "", "x" * 30_000, (), Rights(frozenset()), pages)
    assert span(document, OpenArguments(document="d")) == (0, MAX_CHARS)
    assert span(document, OpenArguments(document="d", page=1)) == (0, 10)
    assert span(document, OpenArguments(document="d", page=2)) == (10, 10 + MAX_CHARS)
    assert span(document, OpenArguments(document="d", start=20_010, end=25_000)) == (20_010, 25_000)


def test_without_the_extra_there_is_no_such_path(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes.mcp, "find_spec", lambda _: None)
    with serving(create_app(built / "index", settings_at(tmp_path))) as served:
        answer = served.client("ann").post("/mcp", json={})
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NotFound")
