from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from citewell.evaluation.report.evaluated import Asked, Evaluated, not_default
from citewell.evaluation.scored import Scored
from citewell.evaluation.testset import Question, as_lines
from citewell.index import Index
from citewell.settings import Settings


def test_all_questions_of_the_file_are_counted_not_only_those_scored(small: Evaluated) -> None:
    assert small.testset == Asked("bank.jsonl", reviewed=5, unreviewed=1, answerable=4, unanswerable=2)


def test_settings_are_those_that_differ_and_hold_no_secret(small: Evaluated) -> None:
    assert small.settings == {
        "retrieval.keep": 2,
        "retrieval.legs": ["keyword"],
        "models.llm": "openai:small",
        "models.llm_url": "https://host.example/v1",
    }


def test_a_models_folder_is_named_without_its_place() -> None:
    settings = Settings.model_validate({"models": {"embedder": "onnx:/home/alice/secret-project/model/"}})
    assert not_default(settings) == {"models.embedder": "onnx:model"}


def test_places_of_the_service_are_not_named() -> None:
    settings = Settings.model_validate({"service": {"state": "/home/alice/state"}, "retrieval": {"keep": 3}})
    assert not_default(settings) == {"retrieval.keep": 3}


def test_the_embedder_of_an_index_is_named_without_its_place(bank: Index, tmp_path: Path) -> None:
    class ScriptedStatus:
        """An index made with a model in a folder, which is not here to be loaded."""

        settings = bank.settings

        def status(self) -> object:
            return replace(bank.status(), embedder=f"onnx:{tmp_path}/model")

    path = tmp_path / "mine.jsonl"
    path.write_text(as_lines([Question(question="Who?")]))
    made = Evaluated.of(cast("Index", ScriptedStatus()), path, Scored((), (), ()), judge="scripted")
    assert made.embedder == "onnx:model"
    assert str(tmp_path) not in repr(made)


def test_an_index_is_told_by_what_it_holds(bank: Index, small: Evaluated, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(as_lines([Question(question="Who?"), Question(question="Why?", answerable=False, reviewed=False)]))
    made = Evaluated.of(bank, path, Scored((), (), ()), judge="scripted", agreement=["well"])
    status = bank.status()
    assert (made.documents, made.chunks, made.embedder) == (4, status.chunks, status.embedder)
    assert made.floor == status.floor
    assert made.settings == {}
    assert made.keep == bank.settings.retrieval.keep
    assert made.testset == Asked("mine.jsonl", reviewed=1, unreviewed=1, answerable=1, unanswerable=1)
    assert (made.title, made.judge, made.agreement) == ("mine.jsonl", "scripted", ("well",))
    assert str(tmp_path) not in repr(made)
