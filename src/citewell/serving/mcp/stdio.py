"""MCP on standard input and output: for a program of this machine that starts us."""

from __future__ import annotations

import asyncio

from mcp.server.stdio import stdio_server

from citewell.index import Index
from citewell.serving.caller import Caller, Scope
from citewell.serving.mcp.desk import OwnDesk
from citewell.serving.mcp.server import server
from citewell.types import Principal


def serve(index: Index, principal: Principal) -> None:
    """Until the input ends. Nothing but messages goes to the output."""
    desk = OwnDesk(index, Caller("local", principal, Scope.READ.contained))
    asyncio.run(_served(desk))


async def _served(desk: OwnDesk) -> None:
    made = server(lambda _: desk)
    async with stdio_server() as (incoming, outgoing):
        await made.run(incoming, outgoing, made.create_initialization_options())
