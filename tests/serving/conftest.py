"""A small index that some may read and others may not, and the service on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.index import Index
from citewell.serving.app import create_app
from citewell.settings import Service, Settings
from tests.serving.served import Served, serving

RULE = "A customer may dispute a card payment within 120 days of the transaction date."
QUESTION = "How many days does a customer have to dispute a card payment?"
DISPUTES = f"# Disputes\n\n## Time limits\n\n{RULE}\n"
VAULT = "# Code word\n\nThe code word for the vault of the head office is Meadow.\n"
SCORING = "# Scoring\n\nThe velocity rule flags a card after nine payments within one hour.\n"
ACCESS = """\
[[rule]]
match = "vault.md"
groups = ["board"]

[[rule]]
match = "scoring.md"
groups = ["fraud_team"]
"""
FILES = {"disputes.md": DISPUTES, "vault.md": VAULT, "scoring.md": SCORING, "citewell-access.toml": ACCESS}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CITEWELL_") and name != "CITEWELL_SHARED"]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `files/` and their index `index`. Only for reading."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "files").mkdir()
    for name, text in FILES.items():
        (folder / "files" / name).write_text(text, encoding="utf-8")
    with Index.create(folder / "index") as index:
        index.add(folder / "files")
    return folder


def settings_at(folder: Path, **service: object) -> Settings:
    return Settings(service=Service.model_validate({"state": str(folder / "state"), **service}))


@pytest.fixture(scope="module")
def read_only(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service on the index that nobody changes, for a whole module."""
    settings = settings_at(tmp_path_factory.mktemp("state"))
    with serving(create_app(built / "index", settings)) as served:
        yield served


@pytest.fixture
def index_copy(built: Path, tmp_path: Path) -> Path:
    """An index of one's own."""
    return Path(shutil.copytree(built / "index", tmp_path / "index"))


@pytest.fixture(scope="module")
def _changed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("changed")
    shutil.copytree(built / "index", folder / "index")
    with serving(create_app(folder / "index", settings_at(folder))) as served:
        yield served


@pytest.fixture
def own(_changed: Served) -> Iterator[Served]:
    """A service to upload to, that the module's tests share; to each, the callers are its own."""
    served = _changed.to_others()
    yield served
    served.close()
