"""A worker process of `citewell serve`: what it serves stands in the environment that it was started with."""

from __future__ import annotations

import os
from pathlib import Path

from fastapi import FastAPI

from citewell.serving.app import create_app
from citewell.settings import Settings

INDEX = "CITEWELL_SERVE_INDEX"
SETTINGS = "CITEWELL_SERVE_SETTINGS"
NO_AUTH = "CITEWELL_SERVE_NO_AUTH"


def app() -> FastAPI:
    """Called once in each worker."""
    named = os.environ.get(SETTINGS)
    settings = Settings.load(Path(named) if named else None)
    return create_app(os.environ[INDEX], settings, no_auth=bool(os.environ.get(NO_AUTH)))
