"""`citewell serve`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.options import DEFAULT_INDEX, DEFAULT_SETTINGS, IndexPlace, SettingsFile, load_settings, words
from citewell.cli.serving import require_serving
from citewell.cli.terminal import complain
from citewell.errors import IndexNotFound, UsageError

if TYPE_CHECKING:
    from citewell.settings import Settings

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", parser=words, help="Where to listen.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="0 takes a free one.")]
Workers = Annotated[int, typer.Option("--workers", min=1, max=64, help="How many processes.")]
NoAuth = Annotated[bool, typer.Option("--no-auth", help="No keys: whoever is on this machine may do everything.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8480,
    workers: Workers = 1,
    no_auth: NoAuth = False,
    at: IndexPlace = DEFAULT_INDEX,
    settings: SettingsFile = None,
) -> None:
    """Serve the index over HTTP."""
    require_serving()
    from citewell.models.endpoint import is_loopback
    from citewell.serving.running import serve as run

    if no_auth and not is_loopback(host):
        raise UsageError(
            f"Without keys the service would be open to all who reach {host}.",
            remedy="Leave --host at 127.0.0.1, or make keys with `citewell keys add` and leave out --no-auth.",
        )
    loaded = load_settings(settings)
    _make_index(at, loaded)
    file = settings or (DEFAULT_SETTINGS if DEFAULT_SETTINGS.exists() else None)
    run(at, loaded, file, host=host, port=port, workers=workers, no_auth=no_auth)


def _make_index(at: str, settings: Settings) -> None:
    """An empty one where there is none, to upload to."""
    from citewell.index import Index

    try:
        Index.open(at, settings=settings).close()
    except IndexNotFound:
        Index.create(at, settings=settings).close()
        complain(f"there was no index in {at}; it is there now, and empty")
