"""Evaluations and comparisons as jobs: what they give, who sees them, and what they may not set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citewell.index import Index
from citewell.serving import schemas
from citewell.serving.app import create_app
from citewell.serving.caller import Scope
from citewell.serving.keys import Keys
from tests.cli.conftest import program
from tests.serving.conftest import QUESTION, RULE, settings_at
from tests.serving.served import Served, finished, serving

EVIDENCE = {"document": "disputes.md", "quote": RULE}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "limit", "question": QUESTION, "must_contain": ["120 days"], "evidence": [EVIDENCE]},
    {
        "id": "word",
        "question": "What is the code word for the vault of the head office?",
        "must_contain": ["Meadow"],
        "groups": ["board"],
        "evidence": [{"document": "vault.md", "section": "Code word"}],
    },
    {"id": "stranger", "question": "What is the code word for the vault of the head office?", "answerable": False},
]


def done(served: Served, path: str, **body: Any) -> dict[str, Any]:
    root = served.client("root", "admin")
    answer = root.post(path, json=body)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job']}"
    return finished(root, answer.json()["job"])


def test_an_evaluation_asks_each_question_with_its_own_groups(read_only: Served) -> None:
    job = done(read_only, "/v1/evaluations", questions=QUESTIONS)
    assert (job["state"], job["error"]) == ("done", None)
    assert job["progress"] == {"done": 3, "total": 3, "current": ""}
    result = job["result"]
    assert (result["version"], result["testset"]["answerable"], result["judge"]["name"]) == (1, 2, "aligned-1")
    answers = {each["id"]: each["answer"]["text"] for each in result["questions"]}
    assert answers["limit"] == f"{RULE} [1]"
    assert "Meadow" in answers["word"]
    assert "Meadow" not in answers["stranger"]
    assert result["slices"][0]["measures"]["hit@5"]["mean"] == 1.0


def test_it_is_what_the_command_prints(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_at(tmp_path)
    with serving(create_app(built / "index", settings)) as served:
        folder = served.service.state.folder / "testsets"
        folder.mkdir()
        (folder / "small.jsonl").write_text("".join(json.dumps(each) + "\n" for each in QUESTIONS))
        job = done(served, "/v1/evaluations", testset="small.jsonl", settings={"retrieval": {"keep": 1}})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "citewell.toml").write_text("[retrieval]\nkeep = 1\n")
    place = str(built / "index")
    printed = json.loads(program("evaluate", folder / "small.jsonl", "--index", place, "--json").out)
    for each in (job["result"], printed):
        assert each["settings"] == {"retrieval.keep": 1}
        for timed in ("at", "latency"):
            del each[timed]
        for question in each["questions"]:
            for timed in ("search_ms", "answer_ms", "trace"):
                del question[timed]
            question["values"].pop("seconds")
        for part in each["slices"]:
            part["measures"].pop("seconds")
    assert job["result"] == printed


def test_a_comparison_builds_what_it_needs_and_leaves_nothing(built: Path, tmp_path: Path) -> None:
    with serving(create_app(built / "index", settings_at(tmp_path))) as served:
        tried = [
            {"name": "as it is"},
            {"name": "smaller", "settings": {"chunking": {"size": 40, "overlap": 0}, "retrieval": {"keep": 2}}},
        ]
        job = done(served, "/v1/comparisons", questions=QUESTIONS, settings=tried, retrieval_only=True)
        assert (job["state"], job["error"]) == ("done", None)
        assert job["progress"] == {"done": 6, "total": 6, "current": ""}
        result = job["result"]
        assert (result["before"], result["judge"]) == ("as it is", "aligned-1")
        (trial,) = result["compared"]
        assert (trial["after"], trial["questions"]) == ("smaller", 3)
        assert {"chunking.size: 240, 40", "chunking.overlap: 30, 0", "retrieval.keep: 5, 2"} == set(trial["settings"])
        assert not any((served.service.state.folder / "uploads" / ".incoming").iterdir())


def test_only_admins_ask_for_them_and_see_them(read_only: Served) -> None:
    job = done(read_only, "/v1/evaluations", questions=QUESTIONS[:1])["job"]
    tried = [{"name": "a"}, {"name": "b"}]
    for scope in ("read", "write"):
        client = read_only.client(f"no-{scope}", scope, "board", "fraud_team")
        for path, more in (("/v1/evaluations", {}), ("/v1/comparisons", {"settings": tried})):
            refused = client.post(path, json={"questions": QUESTIONS, **more})
            assert (refused.status_code, refused.json()["error"]["type"]) == (403, "Forbidden")
    # A key of the same name, which has become one for reading: what was asked for as an admin is not its any more.
    _, token = Keys(read_only.service.state).add("root", Scope.READ, ())
    same = read_only.client("ann")
    headers = {"Authorization": f"Bearer {token}"}
    assert same.get("/v1/me", headers=headers).json()["name"] == read_only.caller("root")
    for method in ("GET", "DELETE"):
        gone = same.request(method, f"/v1/jobs/{job}", headers=headers)
        none = same.request(method, "/v1/jobs/0123456789abcdef", headers=headers)
        assert (gone.status_code, gone.text) == (404, none.text.replace("0123456789abcdef", job))
    assert same.get("/v1/jobs", headers=headers).json()["jobs"] == []
    listed = read_only.client("root", "admin").get("/v1/jobs").json()["jobs"]
    assert [each["result"] for each in listed if each["job"] == job] == [None]  # too long for a list


def test_the_list_has_what_was_asked_for_and_the_first_figures(built: Path, tmp_path: Path) -> None:
    with serving(create_app(built / "index", settings_at(tmp_path))) as served:
        root = served.client("root", "admin")
        assert root.get("/v1/evaluations").json() == {"version": 1, "runs": [], "total": 0, "offset": 0}
        keep = {"retrieval": {"keep": 1}}
        whole = done(served, "/v1/evaluations", questions=QUESTIONS, name="three.jsonl", settings=keep)
        tried = [{"name": "as it is"}, {"name": "one", "settings": keep}]
        compared = done(served, "/v1/comparisons", questions=QUESTIONS, settings=tried, retrieval_only=True)
        assert whole["result"]["testset"]["name"] == "three.jsonl"
        listed = root.get("/v1/evaluations").json()
        schemas.BenchRuns.model_validate(listed)
        assert [each["job"] for each in listed["runs"]] == [compared["job"], whole["job"]]
        comparison, evaluation = listed["runs"]
        assert (comparison["testset"], comparison["retrieval_only"]) == ("questions.jsonl", True)
        (trial,) = compared["result"]["compared"]
        assert comparison["verdicts"] == [{"after": "one", "verdict": trial["verdict"]}]
        assert comparison["figures"] == evaluation["verdicts"] == []
        assert (evaluation["testset"], evaluation["caller"]) == ("three.jsonl", served.caller("root"))
        assert evaluation["settings"] == [{"name": "service", "settings": keep}]
        measures = whole["result"]["slices"][0]["measures"]
        for each in evaluation["figures"]:
            assert each == {
                "measure": each["measure"],
                **{k: measures[each["measure"]][k] for k in each if k != "measure"},
            }
        assert [each["measure"] for each in evaluation["figures"]][:2] == ["correct", "recall@5"]
        second = root.get("/v1/evaluations", params={"limit": 1, "offset": 1}).json()
        assert ([each["job"] for each in second["runs"]], second["total"], second["offset"]) == ([whole["job"]], 2, 1)


def test_the_test_sets_of_the_folder_are_listed_by_name(built: Path, tmp_path: Path) -> None:
    with serving(create_app(built / "index", settings_at(tmp_path))) as served:
        root = served.client("root", "admin")
        assert root.get("/v1/testsets").json() == {"version": 1, "testsets": []}
        folder = served.service.state.folder / "testsets"
        folder.mkdir()
        for name in ("small.jsonl", "bench", ".hidden", "with space", "line\n"):
            (folder / name).write_text(json.dumps(QUESTIONS[0]) + "\n")
        (folder / "folder").mkdir()
        assert root.get("/v1/testsets").json()["testsets"] == ["bench", "small.jsonl"]
        assert done(served, "/v1/evaluations", testset="bench")["state"] == "done"


def test_only_admins_see_the_lists(read_only: Served) -> None:
    for scope in ("read", "write"):
        client = read_only.client(f"no-{scope}", scope, "board", "fraud_team")
        for path in ("/v1/evaluations", "/v1/testsets"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["error"]["type"]) == (403, "Forbidden")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"questions": QUESTIONS, "testset": "small.jsonl"}, 422),
        ({"questions": []}, 422),
        ({"questions": QUESTIONS, "name": "../x"}, 422),
        ({"testset": "small.jsonl", "name": "x"}, 422),
        ({"questions": [{"question": "Why?", "answerabel": False}]}, 422),
        ({"questions": [QUESTIONS[0], QUESTIONS[0]]}, 400),
        ({"testset": "nothing.jsonl"}, 400),
        ({"testset": "../service.sqlite3"}, 422),
        ({"testset": "service.sqlite3"}, 400),
        ({"testset": ".."}, 422),
        ({"questions": QUESTIONS, "judge": "nli:/etc"}, 422),
        ({"questions": QUESTIONS, "settings": {"models": {"llm_url": "http://elsewhere"}}}, 422),
        ({"questions": QUESTIONS, "settings": {"loading": {"plugins": ["x"]}}}, 422),
        ({"questions": QUESTIONS, "settings": {"retrieval": {"kep": 1}}}, 422),
        ({"questions": QUESTIONS, "settings": {"queries": {"hyde": True}}}, 400),  # without a model
    ],
)
def test_what_is_wrong_is_told_at_once(read_only: Served, body: dict[str, Any], status: int) -> None:
    root = read_only.client("root", "admin")
    before = len(root.get("/v1/jobs").json()["jobs"])
    answer = root.post("/v1/evaluations", json=body)
    assert answer.status_code == status, answer.text
    assert str(read_only.service.state.folder) not in answer.text
    assert len(root.get("/v1/jobs").json()["jobs"]) == before


def test_one_that_runs_can_be_cancelled_and_uploads_go_on_beside_it(
    index_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from tests.serving.served import uploaded

    begun, go, search = threading.Event(), threading.Event(), Index.search

    def waiting(index: Index, question: str, **named: Any) -> Any:
        begun.set()
        assert go.wait(30)
        return search(index, question, **named)

    with serving(create_app(index_copy, settings_at(tmp_path))) as served:
        root = served.client("root", "admin")
        monkeypatch.setattr(Index, "search", waiting)
        job = root.post("/v1/evaluations", json={"questions": QUESTIONS}).json()["job"]
        assert begun.wait(30)
        assert uploaded(root, "fees.md", "# Fees\n\nNine euros.\n")["state"] == "done"
        assert root.get(f"/v1/jobs/{job}").json()["state"] == "running"
        assert root.delete(f"/v1/jobs/{job}").json()["cancelling"] is True
        go.set()
        assert finished(root, job)["state"] == "cancelled"
