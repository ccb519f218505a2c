"""A small index that a group may read more of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citewell.index import Index

RULE = "A customer may dispute a card payment within 120 days of the transaction date."
FILES = {
    "disputes.md": f"# Disputes\n\n## Time limits\n\n{RULE}\n",
    "vault.md": "# Code word\n\nThe code word for the vault of the head office is Meadow.\n",
    "citewell-access.toml": '[[rule]]\nmatch = "vault.md"\ngroups = ["board"]\n',
}


@pytest.fixture(scope="package")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("frameworks")
    (folder / "files").mkdir()
    for name, text in FILES.items():
        (folder / "files" / name).write_text(text, encoding="utf-8")
    with Index.create(folder / "index") as made:
        made.add(folder / "files")
        yield made
