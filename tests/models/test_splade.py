"""A sparse encoder of one's own, on the real runtime: tiny masked language models with sums done here as well, and a
trained one where it has been built."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.errors import SettingsError
from citewell.models.sparse import SparseEncoder, SparseVector
from citewell.models.splade import Splade
from tests.models.onnx_folders import SPECIAL, classifier_in, masked_lm_in, tiny_in

WORDS = ("car", "##s", "road", "tree", "a", "the", "of", "red")
VOCABULARY = (*SPECIAL, *WORDS)
RNG = np.random.default_rng(5)
TABLE = RNG.standard_normal((len(VOCABULARY), 6)).astype(np.float32)
DECODER = RNG.standard_normal((6, len(VOCABULARY))).astype(np.float32)
TEXTS = ["the cars", "a red car of the road road road", "", "unheard", "tree"]
TOKENS = [
    ["[CLS]", "the", "car", "##s", "[SEP]"],
    ["[CLS]", "a", "red", "car", "of", "the", "road", "road", "road", "[SEP]"],
    ["[CLS]", "[SEP]"],
    ["[CLS]", "[UNK]", "[SEP]"],
    ["[CLS]", "tree", "[SEP]"],
]

BUILT = Path(os.environ.get("CITEWELL_SPLADE", Path(__file__).parents[2] / "build" / "splade"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return masked_lm_in(tmp_path / "splade", WORDS, TABLE, DECODER)


def dense(vector: SparseVector, size: int = len(VOCABULARY)) -> NDArray[np.float32]:
    weights = np.zeros(size, np.float32)
    weights[vector.terms] = vector.weights
    return weights


def expected(tokens: Sequence[str], pooling: str) -> NDArray[np.float64]:
    """The papers' sums, place by place and word by word."""
    rows = TABLE[[VOCABULARY.index(token) for token in tokens]].astype(np.float64)
    logits = (rows + rows.mean(axis=0)) @ DECODER
    saturated = np.array([[np.log(1 + max(logit, 0)) for logit in row] for row in logits])
    return np.array([max(column) if pooling == "max" else sum(column) for column in saturated.T])


@pytest.mark.parametrize("pooling", ["max", "sum"])
def test_weights_are_those_of_the_papers(folder: Path, pooling: Literal["max", "sum"]) -> None:
    encoder: SparseEncoder = Splade(folder, pooling=pooling)
    vectors = encoder.encode_passages(TEXTS)
    for vector, tokens in zip(vectors, TOKENS, strict=True):
        np.testing.assert_allclose(dense(vector), expected(tokens, pooling), atol=1e-5)
    query = encoder.encode_query(TEXTS[1])
    np.testing.assert_array_equal(query.terms, vectors[1].terms)
    np.testing.assert_array_equal(query.weights, vectors[1].weights)


def test_the_poolings_differ() -> None:
    """Else the test above would not tell them apart."""
    assert np.abs(expected(TOKENS[1], "max") - expected(TOKENS[1], "sum")).max() > 1


def test_vectors_are_as_the_contract_says(folder: Path) -> None:
    vectors = Splade(folder).encode_passages(TEXTS)
    assert min(len(vector.terms) for vector in vectors) < len(VOCABULARY), "some words have no weight"
    for vector in vectors:
        assert vector.terms.dtype == np.uint32
        assert vector.weights.dtype == np.float32
        assert vector.terms.shape == vector.weights.shape
        assert (np.diff(vector.terms.astype(np.int64)) > 0).all()
        assert (vector.weights > 0).all()
    assert Splade(folder).encode_passages([]) == []


def test_a_text_without_any_weight_has_an_empty_vector(tmp_path: Path) -> None:
    folder = tiny_in(tmp_path / "tiny", {"[UNK]": (-1.0, 0.0), "one": (-2.0, 3.0)})
    nothing, one = Splade(folder).encode_passages(["what", "one"])
    assert (nothing.terms.tolist(), nothing.weights.tolist()) == ([], [])
    assert nothing.terms.dtype == np.uint32
    assert (one.terms.tolist(), one.weights.tolist()) == ([1], pytest.approx([np.log(4)]))


def test_words_are_those_of_the_vocabulary(folder: Path) -> None:
    assert Splade(folder).words([4, 5, 2, 1]) == ["car", "##s", "[CLS]", "[UNK]"]
    assert Splade(folder).words([len(VOCABULARY)]) == ["[12]"], "a term of another model's vocabulary"


def test_only_the_first_tokens_are_read(folder: Path) -> None:
    cut = Splade(folder, max_tokens=6).encode_query("the car of red tree tree tree")
    whole = Splade(folder).encode_query("the car of red")
    np.testing.assert_array_equal(cut.terms, whole.terms)
    np.testing.assert_allclose(cut.weights, whole.weights, atol=1e-6)


@pytest.mark.parametrize(
    "inputs", [("input_ids",), ("input_ids", "token_type_ids"), ("input_ids", "attention_mask", "token_type_ids")]
)
def test_a_network_is_given_what_it_takes(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    folder = masked_lm_in(tmp_path / "splade", WORDS, TABLE, DECODER, inputs)
    np.testing.assert_allclose(dense(Splade(folder).encode_query("tree")), expected(TOKENS[4], "max"), atol=1e-5)


def test_identity_changes_with_all_that_changes_vectors(tmp_path: Path, folder: Path) -> None:
    both = b"".join((folder / name).read_bytes() for name in ("model.onnx", "tokenizer.json"))
    assert Splade(folder).identity == f"splade:max:256:{hashlib.sha256(both).hexdigest()[:16]}"
    other_weights = masked_lm_in(tmp_path / "weights", WORDS, TABLE, DECODER * np.float32(1.01))
    other_words = masked_lm_in(tmp_path / "words", (*WORDS[:-1], "blue"), TABLE, DECODER)
    encoders = [
        Splade(folder),
        Splade(folder, pooling="sum"),
        Splade(folder, max_tokens=128),
        Splade(other_weights),
        Splade(other_words),
    ]
    assert len({encoder.identity for encoder in encoders}) == len(encoders)
    moved = masked_lm_in(tmp_path / "moved", WORDS, TABLE, DECODER)
    assert Splade(moved, threads=1).identity == Splade(folder).identity, "not where it lies, nor how it is run"


LFS = b"version https://git-lfs.github.com/spec/v1"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("model.onnx", None, r"has no model\.onnx\."),
        ("tokenizer.json", None, r"has no tokenizer\.json\."),
        ("model.onnx", LFS, "has a network that cannot be loaded"),
        ("tokenizer.json", LFS, "no tokenizer"),
        ("tokenizer.json", b"\xff\xfe\x00", "utf-8"),
    ],
)
def test_files_that_are_missing_or_damaged(folder: Path, name: str, content: bytes | None, says: str) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(SettingsError, match=says) as caught:
        Splade(folder).identity  # noqa: B018 - asking for it reads both files
    assert caught.value.message.startswith(f"The sparse encoder's folder {folder} ")
    assert caught.value.remedy


def test_a_network_that_is_cut_short(folder: Path) -> None:
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:-20])
    with pytest.raises(SettingsError, match="cannot be loaded") as caught:
        Splade(folder).encode_query("car")
    assert "Export model.onnx again" in caught.value.remedy


def test_nothing_is_read_before_the_first_use(tmp_path: Path) -> None:
    encoder = Splade(tmp_path / "absent")
    with pytest.raises(SettingsError, match=r"has no model\.onnx and no tokenizer\.json"):
        encoder.words([1])


def test_networks_of_another_kind(tmp_path: Path) -> None:
    wants_more = masked_lm_in(tmp_path / "more", WORDS, TABLE, DECODER, ("input_ids", "position_ids"))
    with pytest.raises(SettingsError, match="the network takes input_ids, position_ids"):
        Splade(wants_more).encode_passages(["car"])
    classifier = classifier_in(tmp_path / "classifier", {"car": (1.0,)})
    with pytest.raises(SettingsError, match="its first output, logits, has 2 axes"):
        Splade(classifier).encode_passages(["car"])
    embedder = masked_lm_in(tmp_path / "embedder", WORDS, TABLE, DECODER[:, :5])
    with pytest.raises(SettingsError, match=r"gives 5 numbers for a token, and tokenizer\.json has 12 words") as caught:
        Splade(embedder).encode_passages(["car"])
    assert "of one model" in caught.value.remedy


def test_tokens_that_the_network_does_not_take(tmp_path: Path) -> None:
    folder = masked_lm_in(tmp_path / "splade", WORDS, TABLE[:-1], DECODER)
    with pytest.raises(SettingsError, match="does not take these tokens") as caught:
        Splade(folder).encode_passages(["car", "red"])
    assert "models.sparse_max_tokens" in caught.value.remedy


@pytest.mark.parametrize("pooling", ["max", "sum"])
def test_weights_that_are_no_numbers(tmp_path: Path, pooling: Literal["max", "sum"]) -> None:
    table = TABLE.copy()
    table[VOCABULARY.index("red")] = np.nan
    encoder = Splade(masked_lm_in(tmp_path / "splade", WORDS, table, DECODER), pooling=pooling)
    assert len(encoder.encode_query("car").terms)
    with pytest.raises(SettingsError, match="it gives what is no number"):
        encoder.encode_passages(["car", "red"])


@pytest.fixture(scope="module")
def trained() -> Splade:
    if not (BUILT / "model.onnx").is_file():
        pytest.skip("no trained model: `make splade` builds one, or CITEWELL_SPLADE names its folder")
    return Splade(BUILT)


def weights_of(encoder: Splade, text: str) -> dict[str, float]:
    vector = encoder.encode_query(text)
    return dict(zip(encoder.words(vector.terms.tolist()), vector.weights.tolist(), strict=True))


@pytest.mark.parametrize(
    ("pooling", "car", "cars", "engine"), [("max", 2.48145, 1.65165, 0.31864), ("sum", 2.48145, 1.78359, 0.74868)]
)
def test_a_trained_model_is_built_as_it_was_trained(
    trained: Splade, pooling: Literal["max", "sum"], car: float, cars: float, engine: float
) -> None:
    """The numbers are from BERT written out in numpy, in double precision, on the published weights."""
    weights = weights_of(Splade(BUILT, pooling=pooling), "car")
    assert len(weights) == 8
    assert [weights[word] for word in ("car", "cars", "engine")] == pytest.approx([car, cars, engine], abs=1e-4)


def test_a_trained_model_adds_words_that_the_text_has_not(trained: Splade) -> None:
    car, repair = weights_of(trained, "car"), weights_of(trained, "automobile repair")
    assert {"cars", "auto", "engine"} <= car.keys()
    assert {"car", "auto"} <= repair.keys()
    assert max(car, key=lambda word: car[word]) == "car"


def test_a_trained_model_finds_a_passage_by_other_words(trained: Splade) -> None:
    passages = [
        "A cat slept on the warm windowsill all day.",
        "The car would not start, so the garage changed its battery.",
        "Interest on savings accounts is paid every quarter.",
        "The council voted to plant trees along the river.",
    ]
    made = [dense(vector, 30_522) for vector in trained.encode_passages(passages)]

    def best(query: str) -> int:
        return int(np.argmax([dense(trained.encode_query(query), 30_522) @ passage for passage in made]))

    asked = ["automobile will not run", "feline asleep", "bank deposit returns"]
    assert [best(query) for query in asked] == [1, 0, 2], 'their only word in common is "not"'


def test_a_trained_model_gives_a_text_one_vector_in_any_company(trained: Splade) -> None:
    texts = ["A short one.", "The longer passage is about disputes of card payments. " * 40, "Opening hours"]
    for vector, text in zip(trained.encode_passages(texts), texts, strict=True):
        alone = trained.encode_query(text)
        np.testing.assert_array_equal(vector.terms, alone.terms)
        np.testing.assert_array_equal(vector.weights, alone.weights)
        assert len(vector.terms) < 1_000, "it is sparse"
