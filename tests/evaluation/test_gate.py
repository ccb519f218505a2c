"""Two generations asked the same questions: the figures, worked out by hand, and who may see what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

import numpy as np
import pytest

from citewell.errors import PathError
from citewell.evaluation.gate import gate
from citewell.evaluation.testset import Evidence, Question
from citewell.migration import Searched
from citewell.models.embedder import ModelIdentity, TokenSpans, Vectors
from citewell.models.encoding import Encoders
from citewell.settings import Retrieval, Storage
from citewell.stores.lance import LanceStore
from citewell.stores.store import MadeWith, Reader
from tests.stores.corpus import commit, indexed

DENSE = Retrieval(legs=("dense",))
PLACES = {"alpha": 0, "beta": 1, "gamma": 2, "delta": 3, "eta": 4, "theta": 5, "iota": 6, "kappa": 7}


class ScriptedEmbedder:
    """Each word has an axis; a text lies on that of its first word. `order` says which axes a question prefers."""

    def __init__(self, order: Sequence[str]) -> None:
        self.identity = ModelIdentity("scripted", "1", len(PLACES), 256, "mean", "", "")
        self._question = np.zeros(len(PLACES), dtype=np.float32)
        for rank, word in enumerate(order):
            self._question[PLACES[word]] = 1 - rank / 20
        self._question /= np.linalg.norm(self._question)

    def token_spans(self, text: str) -> TokenSpans:
        return np.zeros((len(text.split()), 2), dtype=np.int64)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.eye(len(PLACES), dtype=np.float32)[[PLACES[text.split()[0]] for text in texts]]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._question for _ in texts])


WORDS = list(PLACES)
LAST = [*WORDS[1:], WORDS[0]]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    embedder = ScriptedEmbedder(WORDS)
    store = LanceStore.create(
        tmp_path_factory.mktemp("gate") / "store", MadeWith(embedder.identity, ((1.0,),), "1"), Storage()
    )
    commit(
        store,
        [
            indexed(
                word,
                [f"{word} is | a word"],
                vectors=embedder.embed_passages([word]),
                source=f"file:///a%20folder/{word}.md",
                groups=["board"] if word == "kappa" else ["everyone"],
                valid_to=date(2025, 12, 31) if word == "iota" else None,
            )
            for word in WORDS
        ],
    )
    yield store.reader()
    store.close()


def asks(*words: str, groups: tuple[str, ...] = (), as_of: date | None = None) -> Question:
    evidence = tuple(Evidence(document=f"a folder/{word}.md", quote=f"{word.upper()} is a  WORD") for word in words)
    return Question(question="Which?", evidence=evidence, groups=groups, as_of=as_of)


def test_recall_and_reciprocal_rank_are_those_of_the_evidence(reader: Reader) -> None:
    compare = gate([asks("alpha"), asks("beta", "gamma")], DENSE)
    before, after = (Searched(reader, Encoders(ScriptedEmbedder(way))) for way in (WORDS, LAST))
    comparison = compare(before, after)
    recall, rank = comparison.measures
    assert (comparison.questions, recall.name, rank.name) == (2, "recall@5", "MRR@10")
    # Of six that everyone may read today, alpha is the first before and the last after, beta the second and the first.
    assert (recall.before, recall.after, recall.difference) == (1.0, 0.5, -0.5)
    assert (rank.before, rank.after) == pytest.approx(((1 + 1 / 2) / 2, (1 / 6 + 1) / 2))
    assert (recall.low, recall.high) == (-1.0, 0.0)
    assert not comparison.worse


def test_worse_beyond_the_noise(reader: Reader) -> None:
    compare = gate([asks("alpha")] * 10, DENSE)
    better, worse = (Searched(reader, Encoders(ScriptedEmbedder(way))) for way in (WORDS, LAST))
    assert compare(better, worse).worse
    assert not compare(worse, better).worse
    same = compare(better, better)
    assert [(one.difference, one.low, one.high) for one in same.measures] == [(0, 0, 0), (0, 0, 0)]
    assert not same.worse


def test_one_measure_is_enough(reader: Reader) -> None:
    """From the first place to the third: recall@5 does not see it, the rank does."""
    first, third = ["alpha", "beta", "gamma"], ["beta", "gamma", "alpha"]
    comparison = gate([asks("alpha")] * 10, DENSE)(
        Searched(reader, Encoders(ScriptedEmbedder(first))), Searched(reader, Encoders(ScriptedEmbedder(third)))
    )
    assert comparison.measures[0].difference == 0
    assert comparison.worse


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (asks("kappa", groups=("board",)), 1.0),
        (asks("kappa"), 0.0),
        (asks("iota", as_of=date(2025, 6, 1)), 1.0),
        (asks("iota"), 0.0),
    ],
    ids=["in the group", "not in the group", "in force then", "not in force now"],
)
def test_each_is_asked_with_its_groups_and_on_its_day(reader: Reader, question: Question, found: float) -> None:
    side = Searched(reader, Encoders(ScriptedEmbedder([question.evidence[0].document[9:-3]])))
    comparison = gate([question, asks("alpha")], DENSE)(side, Searched(reader, Encoders(ScriptedEmbedder(["alpha"]))))
    assert comparison.measures[0].before >= found / 2
    assert (comparison.measures[1].before > 0.5) == bool(found)


def test_a_quote_in_another_document_is_not_found(reader: Reader) -> None:
    side = Searched(reader, Encoders(ScriptedEmbedder(WORDS)))
    elsewhere = Question(question="?", evidence=(Evidence(document="lpha.md", quote="alpha is a word"),))
    by_its_name = Question(question="?", evidence=(Evidence(document="alpha.md", quote="alpha is a word"),))
    comparison = gate([elsewhere, by_its_name], DENSE)(side, side)
    assert comparison.measures[0].before == 0.5


def test_a_test_set_about_other_documents_says_nothing(reader: Reader) -> None:
    side = Searched(reader, Encoders(ScriptedEmbedder(WORDS)))
    other = Question(question="?", evidence=(Evidence(document="other.md", quote="x"),))
    with pytest.raises(PathError, match="None of the evidence of the 1 questions"):
        gate([other], DENSE)(side, side)
