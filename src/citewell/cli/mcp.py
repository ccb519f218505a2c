"""`citewell mcp`"""

from __future__ import annotations

from importlib.util import find_spec

from citewell.cli.options import DEFAULT_INDEX, AsGroups, IndexPlace, SettingsFile, load_settings, reader
from citewell.cli.reading_as import tell_of_unknown_groups
from citewell.errors import UsageError


def mcp(at: IndexPlace = DEFAULT_INDEX, settings: SettingsFile = None, groups: AsGroups = None) -> None:
    """Let an assistant search, ask and open documents: MCP on standard input and output."""
    if find_spec("mcp") is None:
        raise UsageError(
            "The MCP server needs mcp, which is not installed.", remedy="Install it with `pip install 'citewell[mcp]'`."
        )
    from citewell.index import Index
    from citewell.serving.mcp.stdio import serve

    loaded = load_settings(settings)
    principal = reader(groups) or loaded.security.principal
    with Index.open(at, settings=loaded) as index:
        tell_of_unknown_groups(index, groups)
        serve(index, principal)
