"""The bench on the page: runs started, followed and cancelled, what came of one, and comparisons. For admins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from citewell.index import Index
from citewell.serving.app import create_app
from tests.serving.page.conftest import QUESTION, QUOTE, Opened, settings
from tests.serving.page.test_asking import marked
from tests.serving.page.test_room import findings
from tests.serving.served import Served, finished, serving

EVIDENCE = {"document": "manual.pdf", "quote": QUOTE}
# One that is right, one whose answer is not what is expected, one rightly and one wrongly not refused.
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "limit",
        "question": QUESTION,
        "expected_answer": "120 days.",
        "must_contain": ["120 days"],
        "groups": ["fraud_team"],
        "evidence": [EVIDENCE],
        "kind": "factoid",
    },
    {
        "id": "noon",
        "question": "What does the parrot of the head office say every noon?",
        "expected_answer": "Nothing at all.",
        "must_contain": ["nothing at all"],
        "evidence": [{"document": "parrot.md", "section": "The parrot of the head office"}],
    },
    {"id": "chess", "question": "Who won the chess world cup in 1987?", "answerable": False, "kind": "not_covered"},
    {"id": "lemon", "question": "How many days does a customer have?", "answerable": False, "groups": ["fraud_team"]},
]
SOON_MS = 30_000
"""A run has ended, on a machine that does something else as well."""
LINES = "".join(json.dumps(one) + "\n" for one in QUESTIONS)


@pytest.fixture(scope="module")
def benched(bank: Path) -> Iterator[Served]:
    """A service of its own: what runs are there is for these tests to say. With a test set in its folder."""
    with serving(create_app(bank / "index", settings(bank / "benched"), no_auth=True)) as served:
        folder = served.service.state.folder / "testsets"
        folder.mkdir()
        (folder / "small.jsonl").write_text(LINES, encoding="utf-8")
        yield served


@pytest.fixture(scope="module")
def evaluated(benched: Served) -> str:
    """A run of the questions, as it is."""
    return run(benched, "evaluations")


@pytest.fixture(scope="module")
def compared(benched: Served) -> str:
    tried = [{"name": "as it is"}, {"name": "one", "settings": {"retrieval": {"keep": 1, "floor": 0.9}}}]
    return run(benched, "comparisons", settings=tried)


def run(served: Served, what: str, **body: Any) -> str:
    client = served.client()
    job: str = client.post(f"/v1/{what}", json={"questions": QUESTIONS, "name": "four.jsonl", **body}).json()["job"]
    assert finished(client, job)["state"] == "done"
    return job


def result(served: Served, job: str) -> dict[str, Any]:
    shown: dict[str, Any] = served.client().get(f"/v1/jobs/{job}").json()["result"]
    return shown


def at(opened: Opened, served: Served, place: str = "", **how: Any) -> Page:
    page = opened(served.url, **how)
    page.goto(f"{served.url}/#bench{place}")
    page.locator("#bench-title").wait_for()
    return page


def test_from_the_header_and_with_a_key_and_back(benched: Served, opened: Opened) -> None:
    page = opened(benched.url)
    page.get_by_role("link", name="Bench").click()
    expect(page.locator("#bench-title")).to_be_focused()
    expect(page.locator(".talk")).to_be_hidden()
    assert page.url.endswith("#bench")
    page.get_by_role("link", name="Ask").click()
    expect(page.locator(".talk")).to_be_visible()
    expect(page.locator("#bench")).to_be_hidden()
    page.keyboard.press("b")
    expect(page.locator("#bench-title")).to_be_focused()
    page.reload()
    expect(page.locator("#bench-title")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()
    page.go_back()
    expect(page.locator("#bench-title")).to_be_visible()


def test_a_test_set_of_the_folder_is_put_to_the_index(benched: Served, opened: Opened) -> None:
    page = at(opened, benched)
    page.get_by_label("Test set of the service").select_option("small.jsonl")
    page.get_by_label("Only what is found").check()
    page.get_by_role("button", name="Start").click()
    row = page.locator(".run").first
    expect(row.locator(".book-title")).to_have_text("small.jsonl")
    expect(row.locator(".run-figures dt").first).to_have_text("recall@5", timeout=SOON_MS)
    expect(row).to_contain_text("without answers")
    expect(page.locator("#said")).to_have_text("small.jsonl: done.")


def test_a_dropped_test_set_too_and_its_settings(benched: Served, opened: Opened) -> None:
    page = at(opened, benched)
    page.evaluate(
        """lines => {
            const files = new DataTransfer();
            files.items.add(new File([lines], "my questions.jsonl"));
            const told = { dataTransfer: files, bubbles: true, cancelable: true };
            const onto = document.querySelector(".start");
            for (const kind of ["dragover", "drop"]) onto.dispatchEvent(new DragEvent(kind, told));
        }""",
        LINES,
    )
    expect(page.locator(".start .dropzone")).to_contain_text("my_questions.jsonl 4 questions")
    expect(page.locator("#upload-dialog")).to_be_hidden()  # it is no document
    page.get_by_label("Settings to try").fill("retrieval.keep = 2\nretrieval.floor = 0.9")
    page.get_by_label("Compare them with the service as it is").check()
    page.get_by_role("button", name="Start").click()
    row = page.locator(".run").first
    expect(row.locator(".book-title")).to_have_text("“retrieval.keep = 2, retrieval.floor = 0.9” against “as it is”")
    expect(row.locator(".verdict")).to_have_text("?not enough questions", timeout=SOON_MS)
    row.get_by_role("link").click()
    expect(page.locator(".trial-title")).to_contain_text("not enough questions")


@pytest.mark.parametrize(
    ("lines", "tried", "told"),
    [
        ("", "", "mine.jsonl holds no question."),
        ('{"question": "Why?"}\nwhat', "", "mine.jsonl, line 2, is no question."),
        ('{"question": "Why?", "answerabel": false}', "", "there is no key 'answerabel'"),
        ('{"question": "Why?"}', "keep = 3", "Line 1 is no setting."),
        ('{"question": "Why?"}', "\nretrieval.keep = three", "Line 2: three is no value."),
        ('{"question": "Why?"}', "retrieval.kep = 3", "kep"),
        ('{"question": "Why?"}', "__proto__.keep = 3", "body.settings.__proto__ is not known"),
        ('{"question": "Why?"}', 'models.llm_url = "http://elsewhere"', "models"),
    ],
)
def test_what_is_wrong_is_told_beside_the_form(
    benched: Served, opened: Opened, lines: str, tried: str, told: str
) -> None:
    page = at(opened, benched)
    before = benched.client().get("/v1/evaluations").json()["total"]
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".start [role=alert]")).to_contain_text("There is no test set yet.")
    page.locator("#testset-file").set_input_files(
        {"name": "mine.jsonl", "mimeType": "text/plain", "buffer": lines.encode()}
    )
    if "mine.jsonl" not in told:
        expect(page.locator(".start .dropzone")).to_contain_text("1 question")
        page.get_by_label("Settings to try").fill(tried)
        page.get_by_role("button", name="Start").click()
    expect(page.locator(".start [role=alert]")).to_contain_text(told)
    assert benched.client().get("/v1/evaluations").json()["total"] == before


def test_one_that_runs_says_how_far_it_is_and_can_be_cancelled(
    benched: Served, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    begun, go, search = threading.Event(), threading.Event(), Index.search

    def waiting(index: Index, question: str, **named: Any) -> Any:
        begun.set()
        assert go.wait(30)
        return search(index, question, **named)

    monkeypatch.setattr(Index, "search", waiting)
    page = at(opened, benched)
    page.get_by_label("Test set of the service").select_option("small.jsonl")
    page.get_by_role("button", name="Start").click()
    assert begun.wait(30)
    row = page.locator(".run").first
    expect(row.get_by_label("Progress of small.jsonl")).to_be_visible()
    expect(row.locator(".job-line")).to_contain_text("0 of 4 questions asked")
    row.get_by_role("link").click()
    expect(page.locator("#bench-title")).to_have_text("small.jsonl")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".job-line")).to_contain_text("Stops after this question")
    go.set()
    expect(page.locator(".lead")).to_contain_text("It was cancelled before its end", timeout=SOON_MS)
    page.get_by_role("link", name="All runs").click()
    expect(page.locator(".run").first).to_contain_text("Cancelled")


def test_a_run_says_what_its_report_says(benched: Served, evaluated: str, opened: Opened) -> None:
    page = at(opened, benched, f"/{evaluated}")
    shown = result(benched, evaluated)
    expect(page.locator("#bench-title")).to_have_text("four.jsonl")
    failed = [one for one in shown["questions"] if one["problems"]]
    assert {one["id"] for one in failed} == {"noon", "lemon"}
    expect(page.get_by_role("heading", name="2 of 4 questions have a problem")).to_be_visible()
    correct = shown["slices"][0]["measures"]["correct"]
    card = page.locator(".card").first
    expect(card.locator(".card-mean")).to_have_text(f"{correct['mean']:.3f}")
    expect(card.locator(".card-says")).to_have_text(f"{correct['low']:.3f} to {correct['high']:.3f}4 questions")
    cells = page.locator(".refusals td.n").all_inner_texts()
    assert [cell.split()[0] for cell in cells] == ["2", "0", "1", "1"]
    expect(
        page.get_by_text("A floor is fitted to 20 questions with an answer and 20 without at least.")
    ).to_be_visible()
    questions = page.locator(".question")
    expect(questions).to_have_count(2)
    assert {text.split(" · ")[0] for text in questions.locator(".book-facts").all_inner_texts()} == {"noon", "lemon"}
    lemon = questions.filter(has_text="How many days does a customer have?")
    expect(lemon.locator(".why")).to_contain_text("Answered, though it should have said that it does not know.")
    lemon.locator("summary").click()
    expect(lemon.locator(".sides")).to_contain_text("“I don’t know”")
    (said,) = (one["answer"]["sentences"][0]["text"] for one in shown["questions"] if one["id"] == "lemon")
    expect(lemon.locator(".sides")).to_contain_text(said)


def test_a_passage_opens_in_its_document(benched: Served, evaluated: str, opened: Opened) -> None:
    page = at(opened, benched, f"/{evaluated}")
    lemon = page.locator(".question").filter(has_text="How many days does a customer have?")
    lemon.locator("summary").click()
    lemon.locator(".marker").first.click()
    (quote,) = (
        citation["quote"]
        for one in result(benched, evaluated)["questions"]
        if one["id"] == "lemon"
        for citation in one["answer"]["citations"][:1]
    )
    assert marked(page) == quote
    page.keyboard.press("Escape")
    expect(lemon.locator(".marker").first).to_be_focused()
    noon = page.locator(".question").filter(has_text="parrot")
    noon.locator("summary").click()
    noon.locator(".found-note").first.click()
    expect(page.locator("#reader-title")).to_be_focused()
    expect(page.locator("#reader mark").first).to_be_visible()
    said = '<script>window.pwned = 1</script> and <img src=x onerror="window.pwned = 2"> every noon.'
    expect(noon.locator(".sides")).to_contain_text(said)  # what a document says is never markup
    assert page.evaluate("window.pwned") is None


def test_two_runs_are_compared_and_the_service_does_the_sums(benched: Served, opened: Opened) -> None:
    run(benched, "evaluations", name="pair.jsonl")
    changed = run(benched, "evaluations", name="pair.jsonl", settings={"retrieval": {"floor": 0.9}})
    page = at(opened, benched, f"/{changed}")
    select = page.get_by_label("“retrieval.floor = 0.9” against")
    expect(select.locator("option")).to_have_count(1)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#bench-title")).to_have_text("“retrieval.floor = 0.9” against “as it is”")
    page.locator(".trial").wait_for()
    told = result(benched, page.url.rpartition("/")[2])["compared"][0]
    expect(page.locator(".trial-title")).to_contain_text(told["verdict"])
    expect(page.locator(".reason")).to_have_text(told["reason"])
    rows = page.locator(".differences").first.locator("tbody tr")
    expect(rows).to_have_count(len(told["headline"]))
    for row, one in zip(rows.all(), told["headline"], strict=True):
        expect(row.locator("th")).to_contain_text(one["measure"])
        expect(row).to_contain_text(f"{one['after']:.3f}")
        expect(row).to_contain_text(one["verdict"])
    worse = [one for one in told["changes"] if one["gain"] < 0]
    assert worse
    page.get_by_text("got worse").click()
    expect(page.locator(".changes li").first).to_contain_text(worse[-1]["question"])


def test_the_floor_curve_is_a_picture_and_a_table(benched: Served, opened: Opened) -> None:
    """Of 20 questions with an answer and 20 without, in other words each."""
    asked = [{**QUESTIONS[0], "id": f"yes-{n}", "question": f"{QUESTION} Case {n}"} for n in range(20)]
    asked += [{**QUESTIONS[2], "id": f"no-{n}", "question": f"Who won the chess cup of {1960 + n}?"} for n in range(20)]
    job = run(benched, "evaluations", questions=asked, retrieval_only=True)
    curve = result(benched, job)["floor_curve"]
    page = at(opened, benched, f"/{job}")
    drawing = page.get_by_role("img", name="What each floor would do")
    expect(drawing).to_be_visible()
    expect(drawing.locator("polyline")).to_have_count(3)
    expect(page.locator(".curve figcaption")).to_contain_text(f"{curve['best']:.2f} is best")
    page.get_by_text("The curve as a table").click()
    expect(page.locator(".curve tr").filter(has_text="best")).to_contain_text(f"{curve['best']:.3f}")
    assert findings(page) == []


def test_its_result_can_be_kept_as_a_file(benched: Served, evaluated: str, opened: Opened) -> None:
    page = at(opened, benched, f"/{evaluated}")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the result as JSON").click()
    assert json.loads(saved.value.path().read_bytes()) == result(benched, evaluated)


def test_a_run_that_is_not_there(benched: Served, opened: Opened) -> None:
    page = at(opened, benched, "/0123456789abcdef")
    expect(page.locator("#bench [role=alert]")).to_contain_text("There is no such run.")


def test_without_runs_it_says_what_to_do(bank: Path, opened: Opened) -> None:
    with serving(create_app(bank / "index", settings(bank / "empty"), no_auth=True)) as served:
        page = at(opened, served)
        expect(page.locator("#bench")).to_contain_text("There is none yet. Put a test set to the index above")
        expect(page.locator("#bench")).to_contain_text("Those in testsets of the service’s folder")
        assert findings(page) == []


def test_only_admins_have_it(keyed: Served, opened: Opened) -> None:
    token = keyed.client("writer", "write", "fraud_team").headers["Authorization"].removeprefix("Bearer ")
    page = opened(keyed.url)
    page.goto(f"{keyed.url}/#bench")
    page.locator("#key").fill(token)
    page.get_by_role("button", name="Use this key").click()
    expect(page.locator("#notice")).to_contain_text("The bench is for admins.")
    expect(page.locator("#to-bench")).to_be_hidden()
    expect(page.locator(".talk")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#theme").focus()
    page.keyboard.press("b")
    expect(page.locator("#bench")).to_be_hidden()


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_serious_keeps_anybody_out(
    benched: Served, evaluated: str, compared: str, opened: Opened, *, dark: bool
) -> None:
    page = at(opened, benched, dark=dark)
    page.locator(".run-figures").first.wait_for()
    assert findings(page) == []
    page.goto(f"{benched.url}/#bench/{evaluated}")
    page.locator(".cards").wait_for()
    for summary in page.locator("#bench summary").all():
        summary.click()
    assert findings(page) == []
    page.goto(f"{benched.url}/#bench/{compared}")
    page.locator(".trial").wait_for()
    for summary in page.locator("#bench summary").all():
        summary.click()
    assert findings(page) == []


def test_a_narrow_screen_holds_all_of_it(benched: Served, evaluated: str, compared: str, opened: Opened) -> None:
    wide = "Math.max(document.documentElement.scrollWidth, document.querySelector('#bench').scrollWidth)"
    page = at(opened, benched, width=360, height=640)
    page.locator(".run").first.wait_for()
    assert page.evaluate(wide) <= 360
    for job, there in ((evaluated, ".cards"), (compared, ".trial")):
        page.goto(f"{benched.url}/#bench/{job}")
        page.locator(there).wait_for()
        for summary in page.locator("#bench summary").all():
            summary.click()
        assert page.evaluate(wide) <= 360
    page.goto(f"{benched.url}/#bench/{evaluated}")
    page.locator(".question summary").first.click()
    page.locator(".question .found-note").first.click()
    page.locator("#reader-title").wait_for()
    assert page.evaluate("document.querySelector('#bench').inert")


def test_the_keyboard_alone_is_enough(benched: Served, evaluated: str, opened: Opened) -> None:
    page = at(opened, benched, f"/{evaluated}")
    expect(page.locator("#bench-title")).to_be_focused()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.question summary')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator(".question").first).to_have_attribute("open", "")
    expect(page.locator(".question[open] button").first).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.question button')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#reader-title")).to_be_focused()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.question button')")
