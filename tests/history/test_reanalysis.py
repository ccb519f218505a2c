"""An index of an older analyser is brought up to date by the next run of indexing, whatever that run is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell import Index
from citewell import index as module
from citewell.loading.given import from_text
from citewell.retrieval.analyser import ANALYSER_VERSION
from citewell.stores.store import VersionKey


@pytest.mark.parametrize("by_files", [False, True])
def test_the_next_run_analyses_all_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_files: bool) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "ANALYSER_VERSION", "older")
        patch.setattr("citewell.ingest.tokens_of", lambda *_: "cut otherwise")
        patch.setattr(module, "analyse_again", lambda _: None)
        with Index.create(tmp_path / "index") as made:
            made.add_documents([from_text("The umbrella is black.", source="bank:umbrella")])
            (old,) = made.stored()
    with Index.open(tmp_path / "index") as index:
        assert index.status().analyser == "older"
        if by_files:
            (tmp_path / "other.md").write_text("Something else.\n")
            report = index.add(tmp_path / "other.md")
        else:
            report = index.add_documents([from_text("Something else.", source="bank:else")])
        assert report.embedded == 1
        assert index.status().analyser == ANALYSER_VERSION
        (stored,) = index._store.fetch([VersionKey(old.id, old.number)])
        assert "umbrella" in stored.entries[0].tokens
        assert stored.document == old
