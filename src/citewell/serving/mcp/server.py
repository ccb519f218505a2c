"""The tools as an MCP server. How its messages come and go is the caller's business."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolShape
from pydantic import BaseModel, ValidationError

from citewell.serving.answers import dumped
from citewell.serving.mcp.desk import Desk
from citewell.serving.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from citewell.serving.problems import log_failure, told, wrong_request
from citewell.shapes import Shape

log = logging.getLogger("citewell.serving")

Context = ServerRequestContext[Any, Any]
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def server(desk_of: Callable[[Context], Desk]) -> Server[Any]:
    """The server; `desk_of` says for each call who makes it."""
    tools = {tool.name: tool for tool in TOOLS}

    async def listed(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_shape(tool) for tool in TOOLS])

    async def called(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, "There is no such tool.")
        return await _run(tool, params.arguments or {}, desk_of(context))

    made: Server[Any] = Server(
        "citewell",
        title="Citewell",
        version=version("citewell"),
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: _schema(tools[name].arguments) if name in tools else None,
        on_list_tools=listed,
        on_call_tool=called,
    )
    made.middleware.clear()  # its spans would tell texts of errors, and of names that a client makes up
    return made


async def _run(tool: Tool, arguments: dict[str, Any], desk: Desk) -> CallToolResult:
    try:
        wanted = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        return _result(wrong_request(problems, "The tool's schema says what it takes."), is_error=True)
    try:
        return _result(await tool.run(desk, wanted))
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller is told what may be told
        log_failure(log, f"tool {tool.name}", error)
        return _result(told(error, desk.caller)[1], is_error=True)


def _result(shape: Shape, *, is_error: bool = False) -> CallToolResult:
    """With the shape as text, too, for clients that read no other."""
    text = TextContent(type="text", text=dumped(shape))
    return CallToolResult(content=[text], structured_content=shape, is_error=is_error)


def _shape(tool: Tool) -> ToolShape:
    return ToolShape(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_schema(tool.arguments),
        output_schema=_schema(tool.result),
        annotations=_READS,
    )


def _schema(model: type[BaseModel]) -> Shape:
    return model.model_json_schema(by_alias=True)
