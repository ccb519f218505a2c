"""Test sets of others: what becomes a question, what is quoted, and what is said of a wrong file."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import PathError
from citewell.evaluation.layouts import Layout, documents_of, layout_of, read_layout
from citewell.evaluation.layouts.quotes import LONGEST, around, opening, sharing
from citewell.evaluation.placing import is_of
from citewell.evaluation.references import check
from citewell.evaluation.testset import Evidence, Question, as_lines, read_testset
from citewell.index import Index
from citewell.loading.given import from_text

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2].parent / "shared")).resolve() / "data"
shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data sets are not there (CITEWELL_SHARED)")

FORCE = "A force changes motion. Newton formulated three laws of motion in 1687. They still hold."
GRADED = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\nq2\tgone\t1\n"


def lines(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "d1", "title": "Force", "text": "BACKGROUND: " + FORCE},
        {"_id": "d2", "title": "", "text": "no marks " * 60},
    ]
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in corpus).encode()))
    lines(
        folder / "queries.jsonl",
        [
            {"_id": "q1", "text": "What changes motion?", "metadata": {}},
            {"_id": "q2", "text": "no marks", "answer": "none"},
            {"_id": "q3", "text": "never judged"},
        ],
    )
    (folder / "qrels" / "test.tsv").write_text(GRADED, encoding="utf-8")
    (folder / "qrels" / "train.tsv").write_text("q1\td1\t1\n", encoding="utf-8")
    return folder


def test_beir_gives_graded_passages_by_their_first_sentence(beir: Path) -> None:
    assert layout_of(beir) is Layout.BEIR
    imported = read_layout(beir)
    first, second = imported.questions
    assert first == Question(
        id="q1",
        question="What changes motion?",
        evidence=(Evidence(document="d1", quote="BACKGROUND: A force changes motion.", grade=2),),
        tags=("test", "train"),
    )
    (evidence,) = second.evidence
    assert (second.expected_answer, second.tags, evidence.document) == ("none", ("test",), "d2")
    assert len(evidence.quote) <= LONGEST
    assert evidence.quote.endswith("no marks") or evidence.quote.endswith("no")
    assert imported.left_out == {
        "queries without a judgement": 1,
        "judgements of passages that are not in the corpus": 1,
    }


def test_one_file_of_judgements_is_one_split(beir: Path) -> None:
    (question,) = read_layout(beir / "qrels" / "train.tsv").questions
    assert (question.id, question.tags, question.evidence[0].grade) == ("q1", (), 1)


def test_trec_judgements_have_a_column_more(beir: Path) -> None:
    (beir / "qrels" / "train.tsv").write_text("q1 0 d1 3\nq1 0 d2 -1\n", encoding="utf-8")
    (question,) = read_layout(beir / "qrels" / "train.tsv").questions
    assert [(one.document, one.grade) for one in question.evidence] == [("d1", 3)]


def test_wrong_judgements_are_named(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("q1\td1\t1\nq1\td2\thigh\n", encoding="utf-8")
    with pytest.raises(PathError, match=r"test\.tsv, line 2: 'high' is no score"):
        read_layout(beir)
    (beir / "qrels" / "test.tsv").write_text("q1\td1\n", encoding="utf-8")
    with pytest.raises(PathError, match="line 1: it has 2 columns"):
        read_layout(beir)


def squad(answers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    asked = {"id": "a1", "question": "When were the laws formulated?", "answers": answers, **more}
    paragraphs = [{"context": "Before.", "qas": []}, {"context": FORCE, "qas": [asked]}]
    return {"version": "v2.0", "data": [{"title": "Force_and_motion", "paragraphs": paragraphs}]}


def test_squad_quotes_the_sentence_of_the_answer(tmp_path: Path) -> None:
    at = FORCE.index("1687")
    answers = [{"text": "in 1687", "answer_start": at - 3}, *[{"text": "1687", "answer_start": at}] * 2]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(squad(answers)), encoding="utf-8")
    assert layout_of(path) is Layout.SQUAD
    (question,) = read_layout(path).questions
    assert question == Question(
        id="a1",
        question="When were the laws formulated?",
        expected_answer="1687",
        evidence=(Evidence(document="Force_and_motion#1", quote="Newton formulated three laws of motion in 1687."),),
    )


def test_squads_impossible_questions_are_not_answerable(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(squad([], is_impossible=True)), encoding="utf-8")
    (question,) = read_layout(path).questions
    assert (question.answerable, question.evidence, question.reviewed) == (False, (), True)
    path.write_text(json.dumps(squad([])), encoding="utf-8")
    with pytest.raises(PathError, match="holds no question"):
        read_layout(path)


@shared
def test_the_squad_folder_is_read_and_all_of_it_is_found_in_an_index(tmp_path: Path) -> None:
    folder = SHARED / "squad2"
    imported = read_layout(folder)
    assert layout_of(folder) is Layout.SQUAD
    assert len(imported.questions) == 3136
    assert sum(not question.answerable for question in imported.questions) == 1551
    assert imported.left_out == {}
    some = [question for question in imported.questions if question.evidence][::80]
    wanted = {question.evidence[0].document for question in some}
    documents = [each for each in documents_of(folder) if any(is_of(each.source, name) for name in wanted)]
    with Index.create(tmp_path / "index") as index:
        index.add_documents(documents)
        assert len(some) == 20
        assert check(index, some) == ()


@shared
def test_scifact_is_read_as_it_is_counted() -> None:
    imported = read_layout(SHARED / "scifact" / "qrels" / "test.tsv")
    assert len(imported.questions) == 300
    assert sum(len(question.evidence) for question in imported.questions) == 339
    assert imported.left_out == {"queries without a judgement": 809}


INDEXED = [
    from_text("The fee is 12 euros.\n\nA card is replaced within five days.", source="file:///a/fees.md"),
    from_text("Nothing of it.", source="file:///b/fees.md"),
]
CONTEXTS = ["<1-hop>\n\nThe fee is 12 euros. A card is replaced within five days.", 'It\'s "elsewhere".']
OLD = {
    "question": "How fast is a card replaced?",
    "contexts": CONTEXTS,
    "ground_truth": "within five days",
    "evolution_type": "simple",
    "metadata": [{"source": "x"}],
    "episode_done": True,
}
NEW = {
    "user_input": OLD["question"],
    "reference_contexts": CONTEXTS,
    "reference": OLD["ground_truth"],
    "synthesizer_name": "simple",
}
COLUMNS = {key: {"0": value} for key, value in NEW.items()}
LISTS = {key: [value] for key, value in OLD.items()}


def numpys(contexts: list[str]) -> str:
    return "[" + "\n ".join(map(repr, contexts)) + "]"


def table(record: dict[str, Any], contexts: str) -> str:
    cells = [contexts if isinstance(value, list) and key != "metadata" else str(value) for key, value in record.items()]
    quoted = [f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells]
    return "," + ",".join(record) + "\n0," + ",".join(quoted) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(OLD),
        json.dumps(NEW) + "\n" + json.dumps({"user_input": None, "reference": "x", "reference_contexts": []}) + "\n",
        json.dumps([NEW], indent=2),
        json.dumps(COLUMNS),
        json.dumps(LISTS),
        table(NEW, repr(CONTEXTS)),
        table(OLD, numpys(CONTEXTS)),
        table(OLD, json.dumps(CONTEXTS)),
    ],
    ids=["old line", "new lines", "array", "columns", "lists", "table", "numpy's table", "json in a table"],
)
def test_ragas_in_all_its_forms(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ragas"
    path.write_text(text, encoding="utf-8")
    assert layout_of(path) is Layout.RAGAS
    imported = read_layout(path, documents=INDEXED)
    (question,) = imported.questions
    assert question == Question(
        question="How fast is a card replaced?",
        expected_answer="within five days",
        evidence=(Evidence(document="a/fees.md", quote="A card is replaced within five days."),),
        kind="simple",
        reviewed=False,
    )
    assert imported.left_out["passages that stand in no document of the index"] == 1


def test_a_table_of_questions(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text(
        "question;expected_answer;document;quote;section;groups;as_of;answerable;kind;tags\n"
        "How much?;12 €;fees.md;The fee is 12 euros.;;staff; 2026-01-31;yes;factoid;cards\n"
        'Both?;;a.md;one;;"staff; team";;;;\n'
        'Both?;;b.md;;Two;"staff; team";;;;\n'
        "\n"
        "Who?;;;;;;;no;;\n",
        encoding="utf-8-sig",  # as Excel writes it
        newline="\r\n",
    )
    assert layout_of(path) is Layout.CSV
    much, both, who = read_layout(path).questions
    assert much.model_dump(mode="json", exclude_defaults=True) == {
        "question": "How much?",
        "expected_answer": "12 €",
        "evidence": [{"document": "fees.md", "quote": "The fee is 12 euros."}],
        "groups": ["staff"],
        "as_of": "2026-01-31",
        "kind": "factoid",
        "tags": ["cards"],
    }
    assert both.groups == ("staff", "team")
    assert both.evidence == (Evidence(document="a.md", quote="one"), Evidence(document="b.md", section="Two"))
    assert (who.answerable, who.evidence, who.reviewed) == (False, (), True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,colour\nWho?,red\n", "has an unknown column, 'colour'"),
        ("document,quote\na.md,x\n", "has no column named question"),
        ("question,as_of\nWho?,tomorrow\n", "line 2: as_of must be a day"),
        ("question,answerable\nWho?,perhaps\n", "line 2: answerable must be true or false"),
        ("question,quote\nWho?,x\n", r"line 2: evidence\.0\.document "),
        ("question,kind\n", "holds no question"),
    ],
)
def test_a_wrong_table_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "questions.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PathError, match=said) as caught:
        read_layout(path, Layout.CSV)
    if "unknown" in said:
        assert "question, expected_answer, document" in caught.value.remedy


def test_what_is_in_no_layout_is_said(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Nothing of the kind.\n", encoding="utf-8")
    for one in (path, tmp_path):
        with pytest.raises(PathError, match="in none of the layouts"):
            read_layout(one)
    with pytest.raises(PathError, match="cannot be read: No such file"):
        read_layout(tmp_path / "none.csv")
    with pytest.raises(PathError, match=r"notes\.txt, it is not valid JSON"):
        read_layout(path, Layout.SQUAD)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 100)[:-8])
    with pytest.raises(PathError, match="cannot be unpacked"):
        read_layout(tmp_path / "cut.gz")


def test_two_questions_of_one_id_are_refused(tmp_path: Path) -> None:
    data = squad([{"text": "1687", "answer_start": FORCE.index("1687")}])
    data["data"] *= 2
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(PathError, match="has the id 'a1' twice"):
        read_layout(path)


def ragas(**more: Any) -> str:
    return json.dumps({"user_input": "Why?", "reference": "so"} | more)


def whole(question: str, context: str = FORCE) -> str:
    asked = {"id": "a1", "question": question, "answers": [{"text": "1687", "answer_start": 0}]}
    return json.dumps({"data": [{"title": "A", "paragraphs": [{"context": context, "qas": [asked]}]}]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ragas() + "\n" + ragas(user_input="x" * 20_001), "record 2: question must have 20000 characters or fewer"),
        (ragas(user_input="Why \ud800?"), "record 1: question must be valid Unicode"),
        (ragas(user_input="\0"), "record 1: question must not be blank"),
        (whole("  "), "question 'a1': question must not be blank"),
        (whole("What?", context=" "), "question 'a1': .*evidence needs a quote"),
        ("[" * 100_000 + '"user_input"', "in none of the layouts"),
        ('{"user_input":' * 100_000, "in none of the layouts"),
        ("x" * 200_000, "in none of the layouts"),
    ],
    ids=["long", "surrogate", "NUL", "blank", "no context", "deep array", "deep object", "one line"],
)
def test_what_makes_no_question_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "questions.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PathError, match=rf"questions\.json,? .*{said}"):
        read_layout(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "x" * 200_000], ids=["array", "object", "line"])
@pytest.mark.parametrize("layout", Layout)
def test_no_layout_chokes_on_another_file(tmp_path: Path, text: str, layout: Layout) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PathError, match="file"):
        read_layout(path, layout)


@pytest.mark.parametrize(
    ("query", "grade", "said"),
    [
        ("word " * 5_000, "1", "query 'q1': question must have 20000 characters or fewer"),
        ("  ", "1", "query 'q1': question must not be blank"),
        ("What?", "101", "query 'q1': grade must be 100 or less"),
        ("What?", "²", "line 2: '²' is no score"),
    ],
)
def test_what_beir_judges_wrongly_is_named(beir: Path, query: str, grade: str, said: str) -> None:
    lines(beir / "queries.jsonl", [{"_id": "q1", "text": query}])
    path = beir / "qrels" / "train.tsv"
    path.write_text(f"query-id\tcorpus-id\tscore\nq1\td1\t{grade}\n", encoding="utf-8")
    with pytest.raises(PathError, match=said):
        read_layout(path)


def test_a_query_of_passages_that_are_not_there_is_left_out_whatever_it_is(beir: Path) -> None:
    lines(beir / "queries.jsonl", [{"_id": "q1", "text": "What?"}, {"_id": "q2", "text": "word " * 5_000}])
    (beir / "qrels" / "train.tsv").write_text("q1\td1\t1\nq2\tgone\t1\n", encoding="utf-8")
    imported = read_layout(beir / "qrels" / "train.tsv")
    assert [question.id for question in imported.questions] == ["q1"]
    assert imported.left_out == {"judgements of passages that are not in the corpus": 1}


def test_a_passage_of_nothing_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "ragas.jsonl"
    path.write_text(ragas(reference_contexts=["<1-hop>\n\n", " | "]), encoding="utf-8")
    imported = read_layout(path, documents=INDEXED)
    assert imported.questions[0].evidence == ()
    assert imported.left_out == {"passages that stand in no document of the index": 2}


def test_what_is_said_of_all_columns_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "ragas.json"
    path.write_text(json.dumps(LISTS | {"seed": 3, "synthesizer_name": "all"}), encoding="utf-8")
    assert [each.kind for each in read_layout(path).questions] == ["simple"]


def test_what_is_imported_can_be_written_and_read(beir: Path, tmp_path: Path) -> None:
    questions = read_layout(beir).questions
    path = tmp_path / "testset.jsonl"
    path.write_text(as_lines(questions), encoding="utf-8")
    assert read_testset(path) == questions


def test_the_passages_of_a_data_set_are_documents(beir: Path, tmp_path: Path) -> None:
    first, second = documents_of(beir)
    assert (first.source, first.title) == ("beir:///d1", "Force")
    assert first.text.startswith("Force\n\nBACKGROUND: A force")
    assert is_of(second.source, "d2")
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(squad([])), encoding="utf-8")
    assert [is_of(each.source, f"Force_and_motion#{number}") for number, each in enumerate(documents_of(path))] == [
        True,
        True,
    ]
    csv = tmp_path / "questions.csv"
    csv.write_text("question,quote\nWho?,x\n", encoding="utf-8")
    with pytest.raises(PathError, match="brings no documents along"):
        next(documents_of(csv))


def test_quotes_are_sentences_that_a_chunk_holds() -> None:
    assert opening("OBJECTIVE. To see what holds. More.") == "To see what holds."
    assert opening("Short one.") == "Short one."
    assert around(FORCE, FORCE.index("1687")) == "Newton formulated three laws of motion in 1687."
    long = "word " * 200 + "answer " + "word " * 200
    found = around(long, long.index("answer"))
    assert "answer" in found
    assert len(found) <= LONGEST
    assert found in long
    assert sharing(FORCE, "three laws") == "Newton formulated three laws of motion in 1687."
    assert len(opening("x" * 1_000)) == LONGEST
