from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.errors import IndexFormatError, IndexNotFound
from citewell.filters import FieldType
from citewell.stores.manifest import FILE, Manifest, load, save, signature
from citewell.stores.store import Counts, MadeWith
from citewell.types import Removed
from tests.stores.corpus import identity

MANIFEST = Manifest(
    made_with=MadeWith(identity(), ((0.1, -1e-9), (1 / 3, 1.0)), "analyser 1"),
    tables={"documents": 3, "chunks": 5, "entries": 8},
    counts=Counts(1, 2, 3),
    fields={"amount": FieldType.NUMBER},
)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path, MANIFEST)
    assert load(tmp_path) == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_one_without_a_mark_is_one_of_which_nothing_is_to_be_erased(tmp_path: Path) -> None:
    save(tmp_path, replace(MANIFEST, erasing=(Removed("d", "file:///d", (1, 2), {"texts": 2}),)))
    marked = json.loads((tmp_path / FILE).read_text())
    assert load(tmp_path).erasing == (Removed("d", "file:///d", (1, 2), {"texts": 2}),)
    del marked["erasing"]  # as before there were such marks
    (tmp_path / FILE).write_text(json.dumps(marked))
    assert load(tmp_path) == MANIFEST


def test_each_save_changes_the_signature(tmp_path: Path) -> None:
    seen = set()
    for _ in range(5):
        save(tmp_path, MANIFEST)
        assert signature(tmp_path) == signature(tmp_path)
        seen.add(signature(tmp_path))
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is not valid JSON"),
        ("{", "it is not valid JSON"),
        ("\ud800".encode("utf-8", "surrogatepass"), "it is not valid JSON"),
        ("[1]", "it must be an object"),
        ("{}", "made_with"),
        (json.dumps({"made_with": {"embedder": {"name": 3}}}), r"made_with\.embedder\.name must be text"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path: Path, text: str | bytes, problem: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(IndexFormatError, match=rf"manifest\.json is damaged: .*{problem}.*Restore it"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["missing", "a-file"])
def test_without_a_manifest_there_is_no_index(tmp_path: Path, name: str) -> None:
    (tmp_path / "a-file").write_text("text")
    for look in (load, signature):
        with pytest.raises(IndexNotFound, match=f"no index in .*{name}"):
            look(tmp_path / name)
