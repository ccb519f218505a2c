"""`/` and `/static/...`: the page. For everybody: it holds nothing of anybody's."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

PAGE = Path(__file__).parents[1] / "page"

# Said here, as the registry of the machine may say otherwise, and scripts that are not called so do not run.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


class _Files(StaticFiles):
    """A browser keeps them, and asks each time whether they are still the same."""

    def file_response(self, full_path: str | PathLike[str], *args: object, **more: object) -> Response:
        response = super().file_response(full_path, *args, **more)  # type: ignore[arg-type]  # only handed on
        response.headers["Cache-Control"] = "no-cache"
        if kind := _TYPES.get(Path(full_path).suffix):
            response.headers["Content-Type"] = kind
        return response


def add_page(app: FastAPI) -> None:
    """Add the page to the application. It is not part of the schema: it is for people."""
    app.mount("/static", _Files(directory=PAGE), name="static")
    app.add_route("/", _index, include_in_schema=False)
    app.add_route("/favicon.ico", _icon, include_in_schema=False)


async def _index(_: object) -> Response:
    return FileResponse(PAGE / "index.html", media_type=_TYPES[".html"], headers={"Cache-Control": "no-cache"})


async def _icon(_: object) -> Response:
    return FileResponse(PAGE / "icon.svg", media_type=_TYPES[".svg"], headers={"Cache-Control": "no-cache"})
