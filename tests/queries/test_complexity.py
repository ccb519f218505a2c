"""The trained classifier: what it sees, what it says, and for which embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from citewell.errors import SettingsError
from citewell.models.embedder import ModelIdentity, TokenSpans, Vectors
from citewell.models.minilm import IDENTITY, MiniLM
from citewell.queries.complexity import FILE, SHOWN, digest, features, needs_many, shown
from citewell.queries.decomposition_rules import LONGEST


class ScriptedEmbedder:
    """Of another identity than the built-in one; makes no vectors."""

    identity: ModelIdentity = replace(IDENTITY, name="onnx:other", revision="1")

    def token_spans(self, text: str) -> TokenSpans:
        raise NotImplementedError(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError(texts)


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM(1)


@pytest.mark.parametrize(
    ("question", "many"),
    [
        ("What is the place of birth of the performer of song Changed It?", True),
        ("Who is the maternal grandfather of the director of film Stone Harbour?", True),
        ("Which band has more members, Saint Motel or Curve?", True),
        ("Aspirin inhibits the production of PGE2.", False),
        ("What is the yearly fee for a credit card?", False),
        ("How many branches does the bank have?", False),
    ],
)
def test_what_it_says(embedder: MiniLM, question: str, many: bool) -> None:
    assert needs_many(embedder, question) is many


def test_a_text_is_no_question_of_many_steps(embedder: MiniLM) -> None:
    asked = "Where was the director of film Stone Harbour born? "
    assert needs_many(embedder, asked)
    assert not needs_many(embedder, asked * (LONGEST // len(asked) + 1))


def test_another_embedder_is_refused_with_the_way_out() -> None:
    with pytest.raises(SettingsError, match="not those of onnx:other") as caught:
        needs_many(ScriptedEmbedder(), "Where was the director of film Stone Harbour born?")
    assert caught.value.remedy == 'Set queries.route = "rules", which needs no vectors, or "off".'


@pytest.mark.parametrize("changed", [{"revision": "2"}, {"query_prefix": "query: "}, {"max_tokens": 128}])
def test_all_that_makes_vectors_differ_is_in_the_digest(changed: dict[str, object]) -> None:
    assert digest(replace(IDENTITY, **changed)) != digest(IDENTITY)  # type: ignore[arg-type]  # fields of several types


def test_what_words_show() -> None:
    found = dict(
        zip(SHOWN, shown("Who is Ada Lindqvist's mother, and where was the director of film X born?"), strict=True)
    )
    assert found["words"] == 14 / 40
    assert found["relations"] == 2 / 3
    assert found["possessives"] == 1 / 3
    assert found["asking words"] == 2 / 3
    assert found["parts"] == 1
    assert not any(shown(""))
    assert max(shown("Who or what, of A's mother's mother? " * 100)) == 1


def test_shapes_and_the_size_of_the_file(embedder: MiniLM) -> None:
    questions = ["Who?", "What is a card?"]
    made = features(questions, embedder.embed_queries(questions))
    assert made.shape == (2, len(SHOWN) + IDENTITY.dimensions)
    assert np.allclose(np.linalg.norm(made[:, len(SHOWN) :], axis=1), 1, atol=1e-6)
    assert features([], np.empty((0, IDENTITY.dimensions), np.float32)).shape == (0, len(SHOWN) + IDENTITY.dimensions)
    assert len((files("citewell.queries") / FILE).read_bytes()) < 20_000
