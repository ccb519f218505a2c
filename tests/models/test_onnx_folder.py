"""An embedder of one's own: real networks on the real runtime."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import SettingsError
from citewell.models.minilm import MiniLM
from citewell.models.onnx_folder import OnnxFolder
from tests.models.onnx_folders import MINILM, minilm_in, tiny_in

TEXTS = ["A customer may dispute a card payment within 120 days.", "Branches are open from nine to five.", "Due."]
WORDS = {"[UNK]": (0.0, 0.0, 1.0), "one": (1.0, 0.0, 0.0), "two": (0.0, 2.0, 0.0)}


@pytest.fixture
def minilm(tmp_path: Path) -> Path:
    return minilm_in(tmp_path / "minilm")


def test_the_same_files_make_the_same_vectors(minilm: Path) -> None:
    mine, theirs = OnnxFolder(minilm, threads=1), MiniLM(threads=1)
    assert np.array_equal(mine.embed_passages(TEXTS), theirs.embed_passages(TEXTS))
    assert np.array_equal(mine.token_spans(TEXTS[0]), theirs.token_spans(TEXTS[0]))


def test_what_a_user_sees_of_it(minilm: Path) -> None:
    identity = OnnxFolder(minilm, max_tokens=128, query_prefix="query: ", passage_prefix="passage: ").identity
    digest = hashlib.sha256((MINILM / "model.onnx").read_bytes()).hexdigest()
    assert (identity.name, identity.revision) == (f"onnx:{minilm}", digest[:16])
    assert (identity.dimensions, identity.pooling) == (384, "mean")
    assert identity.max_tokens == 128 - 2, "a passage has less by its prefix"
    assert (identity.query_prefix, identity.passage_prefix) == ("query: ", "passage: ")


def test_prefixes_have_no_vectors_of_their_own(minilm: Path) -> None:
    embedder = OnnxFolder(minilm, query_prefix="Find passages on ", passage_prefix="A passage: ", threads=1)
    query = embedder.embed_query_tokens("the card fee, please!")
    assert query.words == ("the", "card", "fee", "please")
    vectors, (tokens, empty) = embedder.embed_passage_tokens(["The fee is 40 euros.", ""])
    assert (len(tokens), len(empty)) == (5, 5), "of an empty text all there is: the prefix and the special tokens"
    np.testing.assert_array_equal(vectors, embedder.embed_passages(["The fee is 40 euros.", ""]))
    plain = OnnxFolder(minilm, threads=1).embed_passage_tokens(["The fee is 40 euros."])[1][0]
    assert not np.allclose(tokens, plain), "the network reads the prefix"


def test_prefixes_are_put_before_the_texts(minilm: Path) -> None:
    embedder = OnnxFolder(minilm, query_prefix="query: ", passage_prefix="passage: ", threads=1)
    plain = MiniLM(threads=1).embed_passages([f"query: {TEXTS[0]}", f"passage: {TEXTS[0]}"])
    assert np.array_equal(embedder.embed_queries(TEXTS[:1])[0], plain[0])
    assert np.array_equal(embedder.embed_passages(TEXTS[:1])[0], plain[1])


def test_only_the_first_tokens_are_read(minilm: Path) -> None:
    embedder = OnnxFolder(minilm, max_tokens=16)
    start = "word " * 14
    first, second = embedder.embed_passages([start, start + "and something else entirely"])
    assert first @ second == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("pooling", "expected"), [("mean", (1 / 3, 4 / 3, 0)), ("cls", (1, 0, 0))])
def test_pooling(tmp_path: Path, pooling: str, expected: tuple[float, ...]) -> None:
    embedder = OnnxFolder(tiny_in(tmp_path / "tiny", WORDS), pooling="cls" if pooling == "cls" else "mean")
    assert embedder.embed_passages(["one two two"])[0] == pytest.approx(
        np.array(expected) / np.linalg.norm(expected), abs=1e-6
    )


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "attention_mask")])
def test_a_network_is_given_what_it_takes(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    embedder = OnnxFolder(tiny_in(tmp_path / "tiny", WORDS, inputs))
    assert embedder.embed_queries(["two", "one"]).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert embedder.identity.dimensions == 3


def test_a_word_that_the_vocabulary_does_not_know_counts_by_its_length(tmp_path: Path) -> None:
    embedder = OnnxFolder(tiny_in(tmp_path / "tiny", WORDS))
    assert embedder.token_spans("one " + "A" * 10).tolist() == [[0, 3], [4, 8], [8, 12], [12, 14]]


def test_nothing_is_read_before_the_first_use(tmp_path: Path) -> None:
    embedder = OnnxFolder(tmp_path / "absent")
    with pytest.raises(SettingsError, match=r"has no model\.onnx and no tokenizer\.json"):
        embedder.embed_queries(["one"])


def without_network(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def cut_short(folder: Path) -> None:
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:-20])


def text_as_network(folder: Path) -> None:
    (folder / "model.onnx").write_text("version https://git-lfs.github.com/spec/v1")


def text_as_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("version https://git-lfs.github.com/spec/v1")


def bytes_as_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_bytes(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (without_network, r"has no model\.onnx\."),
        (without_tokenizer, r"has no tokenizer\.json\."),
        (cut_short, "cannot be loaded"),
        (text_as_network, "cannot be loaded"),
        (text_as_tokenizer, "no tokenizer"),
        (bytes_as_tokenizer, "utf-8"),
    ],
)
def test_files_that_are_missing_or_damaged(tmp_path: Path, damage: Callable[[Path], None], says: str) -> None:
    folder = tiny_in(tmp_path / "tiny", WORDS)
    damage(folder)
    with pytest.raises(SettingsError, match=says) as caught:
        OnnxFolder(folder).identity  # noqa: B018 - asking for it reads both files
    assert str(folder) in caught.value.message
    assert caught.value.remedy


def test_networks_of_another_kind(tmp_path: Path) -> None:
    wants_more = tiny_in(tmp_path / "more", WORDS, ("input_ids", "position_ids"))
    with pytest.raises(SettingsError, match="the network takes input_ids, position_ids"):
        OnnxFolder(wants_more).embed_passages(["one"])
    zero = tiny_in(tmp_path / "zero", {"[UNK]": (0.0, 0.0), "one": (0.0, 0.0)})
    with pytest.raises(SettingsError, match="a vector is zero"):
        OnnxFolder(zero).embed_passages(["one"])


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    folder = tiny_in(tmp_path / "tiny", WORDS)
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").symlink_to(MINILM / "tokenizer.json")
    with pytest.raises(SettingsError, match="does not take these tokens") as caught:
        OnnxFolder(folder).embed_passages(["one"])
    assert "embedder_max_tokens" in caught.value.remedy


def test_more_tokens_than_the_network_reads(minilm: Path) -> None:
    with pytest.raises(SettingsError, match="does not take these tokens") as caught:
        OnnxFolder(minilm, max_tokens=1_000).embed_passages(["word " * 900])
    assert "embedder_max_tokens" in caught.value.remedy
