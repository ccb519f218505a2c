from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.errors import IndexFormatError, IndexNotFound
from citewell.filters import FieldType
from citewell.stores.home import FORMAT
from citewell.stores.manifest import FILE, Manifest, load, save, signature
from citewell.stores.store import Counts, MadeWith
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
    assert json.loads((tmp_path / FILE).read_text())["format"] == FORMAT


def test_each_save_changes_the_signature(tmp_path: Path) -> None:
    seen = set()
    for _ in range(5):
        save(tmp_path, MANIFEST)
        assert signature(tmp_path) == signature(tmp_path)
        seen.add(signature(tmp_path))
    assert len(seen) == 5


def test_another_format_is_refused_with_both_numbers(tmp_path: Path) -> None:
    save(tmp_path, replace(MANIFEST, format=7))
    with pytest.raises(IndexFormatError, match=r"manifest\.json has format 7; .* reads format 3.*index the documents"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a JSON object"),
        ("{", "not a JSON object"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"format": "1"}', "format number"),
        ('{"format": 3}', "made_with"),
        (json.dumps({"format": 3, "made_with": {"embedder": {"name": 3}}}), r"made_with\.embedder\.name: .* string"),
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
