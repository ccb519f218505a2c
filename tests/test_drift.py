"""Settings that changed after documents were indexed: they are told, with what to run, until they hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from citewell import Index, recipes
from citewell.diagnosis import Check, Severity, examine
from citewell.settings import Settings

TEXT = "# Fees\n\nA transfer abroad costs 25 EUR.\n\n# Cards\n\nA lost card is blocked at once.\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "fees.md").write_text(TEXT)
    (folder / "cards.txt").write_text("A lost card is blocked at once, by whoever is at the desk.")
    return folder


def with_tables(**tables: Mapping[str, object]) -> Settings:
    return Settings.model_validate(tables)


# Every kind of setting that holds from one indexing to the next, with another value.
CHANGED = [
    ("chunking.size", "240", "120", {"chunking": {"size": 120}}),
    ("chunking.method", '"structure"', '"fixed"', {"chunking": {"method": "fixed"}}),
    ("chunking.table_rows", "false", "true", {"chunking": {"table_rows": True}}),
    ("metadata.fields", "{}", '{"region": "text"}', {"metadata": {"fields": {"region": "text"}}}),
    ("security.default_groups", '["everyone"]', '["staff"]', {"security": {"default_groups": ["staff"]}}),
]


@pytest.mark.parametrize(("setting", "was", "now", "tables"), CHANGED)
def test_a_setting_that_holds_from_the_next_indexing_is_told_until_then(
    setting: str, was: str, now: str, tables: dict[str, dict[str, object]], files: Path, tmp_path: Path
) -> None:
    with Index.create(tmp_path / "index") as index:
        index.add(files)
        assert index.status().drift == ()
    with Index.open(tmp_path / "index", settings=with_tables(**tables)) as index:
        (told,) = index.status().drift
        assert (told.setting, told.was, told.now, told.documents) == (setting, was, now, 2)
        assert "citewell index" in told.remedy
        report = index.add(files / "fees.md")
        assert f"{setting} is {now}; documents made with {was}: 1. They are made anew." in report.warnings
        (told,) = index.status().drift
        assert told.documents == 1, "the other document is still as it was"
        index.add(files)
        assert index.status().drift == ()


def test_what_only_questions_are_answered_by_is_no_drift(files: Path, tmp_path: Path) -> None:
    with Index.create(tmp_path / "index") as index:
        index.add(files)
    other = with_tables(
        retrieval={"keep": 9, "rerank": False},
        generation={"max_sentences": 1},
        enrichment={"parallel": 9},
        loading={"ignore": ["*.bak"], "max_pages": 7},
        models={"llm": "ollama:some/model?"},
    )
    with Index.open(tmp_path / "index", settings=other) as index:
        assert index.status().drift == ()


def test_a_document_with_a_rule_of_its_own_has_nothing_to_do_with_the_default_groups(
    files: Path, tmp_path: Path
) -> None:
    (files / "fees.md.citewell.toml").write_text('groups = ["staff"]\n')
    with Index.create(tmp_path / "index") as index:
        index.add(files)
    with Index.open(tmp_path / "index", settings=with_tables(security={"default_groups": ["all"]})) as index:
        (told,) = index.status().drift
        assert told.documents == 1


def test_names_that_hold_the_signs_of_a_recipe(files: Path, tmp_path: Path) -> None:
    odd = ["a/b", "who?", "{}", "!", 'q"\\u002f']
    with Index.create(tmp_path / "index", settings=with_tables(security={"default_groups": odd})) as index:
        index.add(files)
        assert index.status().drift == ()
    with Index.open(tmp_path / "index") as index:
        (told,) = index.status().drift
        assert "a/b" in told.was
        assert "who?" in told.was


def test_the_index_as_a_whole(files: Path, tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", settings=with_tables(storage={"token_vectors": False})) as index:
        index.add(files)
    with Index.open(tmp_path / "index") as index:
        (told,) = index.status().drift
        assert (told.setting, told.was, told.now) == ("storage.token_vectors", "false", "true")
        assert "citewell migrate" in told.remedy
    told_by_doctor = [check for check in looked_at(tmp_path / "index", Settings()) if check.name == "applied"]
    assert [check.severity for check in told_by_doctor] == [Severity.OK, Severity.WARNING]
    with Index.open(tmp_path / "index") as index:
        index.migrate()
        assert index.status().drift == ()


def test_doctor_says_what_is_not_in_force(files: Path, tmp_path: Path) -> None:
    with Index.create(tmp_path / "index") as index:
        index.add(files)
    (found,) = [check for check in looked_at(tmp_path / "index", Settings()) if check.name == "applied"]
    assert found.severity is Severity.OK
    changed = with_tables(chunking={"size": 120, "overlap": 10})
    told = [check for check in looked_at(tmp_path / "index", changed) if check.name == "applied"]
    assert [check.severity for check in told] == [Severity.WARNING] * 2
    assert [check.message.split(" is ")[0] for check in told] == ["chunking.overlap", "chunking.size"]


def test_documents_of_which_nothing_was_noted_are_told_as_such(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, Index.create(tmp_path / "index") as index:
        patch.setattr(recipes, "_written_down", lambda _: "")
        index.add(files)
    (found,) = [check for check in looked_at(tmp_path / "index", Settings()) if check.name == "applied"]
    assert (found.severity, "2 documents" in found.message) == (Severity.WARNING, True)


def looked_at(place: Path, settings: Settings) -> list[Check]:
    return list(examine(place, lambda: settings))
