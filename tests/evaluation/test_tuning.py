"""What tuning tries, chooses and confirms, on a real index with a setting that is planted wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from citewell.errors import UsageError
from citewell.evaluation.arms import Arm, Trials, pairs
from citewell.evaluation.measures import Measured
from citewell.evaluation.scored import Scored, score
from citewell.evaluation.techniques import Patch, patched
from citewell.evaluation.testset import Evidence, Question
from citewell.evaluation.tuning import AS_IT_IS, Budget, halves, tune
from citewell.evaluation.variants import Workbench
from citewell.evaluation.verdicts import Verdict
from citewell.index import Index
from citewell.loading.given import from_text
from citewell.models.minilm import MiniLM
from citewell.settings import Retrieval, Settings
from tests.evaluation.answered import outcome
from tests.evaluation.scripted_judge import ScriptedJudge

TOWNS = ("Ashford", "Bexley", "Corby", "Denham", "Epsom", "Frome", "Goole", "Hove", "Ilkley")
ONE_KEPT = Settings(retrieval=Retrieval(keep=1, floor="off"))
MANY_KEPT = Settings(retrieval=Retrieval(keep=20, floor="off"))


def both(number: int) -> Question:
    """A question whose answer stands in two documents, so that one passage is never enough."""
    one, other = TOWNS[number % 9], TOWNS[(number + 1 + number // 9) % 9]
    evidence = tuple(Evidence(document=f"{town}.md", quote="opens at") for town in (one, other))
    return Question(id=f"q{number}", question=f"When do {one} and {other} open?", evidence=evidence, kind="hours")


QUESTIONS = tuple(map(both, range(16)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = {town: f"The branch in {town} opens at {at} in the morning." for at, town in enumerate(TOWNS, start=6)}
    with Index.create(tmp_path_factory.mktemp("towns") / "index") as index:
        index.add_documents([from_text(text, source=f"https://bank.example/{town}.md") for town, text in texts.items()])
        return index.location


class Asking:
    """Asks real questions and counts them."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._embedder = MiniLM()
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, name: str, settings: Settings, questions: Sequence[Question]) -> Scored:
        self.asked.append((name, tuple(question.id for question in questions)))
        with self._bench.opened(settings) as index:
            return score(index, questions, judge=ScriptedJudge(), embedder=self._embedder)


def test_what_is_planted_wrong_is_found_and_confirmed(place: str, tmp_path: Path) -> None:
    bench = Workbench(place, ONE_KEPT, tmp_path / "bench")
    ask = Asking(bench)
    found = tune(bench, QUESTIONS, ask=ask, judge=ScriptedJudge(), budget=Budget(questions=40))
    assert (found.tuning, found.confirming, len(found.diagnosis.failed)) == (8, 8, 8)
    assert found.best is not None
    assert found.best.arm.patch == {"retrieval.keep": 5}
    assert (found.best.questions, found.best.failed, found.best.failed_before, found.best.gain) == (8, 0, 8, 1.0)
    assert found.confirmation is not None
    assert found.confirmation.is_kept
    assert (found.confirmation.succeeded.before, found.confirmation.succeeded.after) == (0, 1)
    assert found.confirmation.compared.verdict is Verdict.NO_DIFFERENCE  # recall@5 looks at five, however many are kept

    (_, first), *tried, (as_it_is, second), (best, again) = ask.asked
    assert (as_it_is, best, second) == (AS_IT_IS, "keep 5", again)
    assert sorted(first + second) == sorted(question.id for question in QUESTIONS)
    assert all(set(asked) <= set(first) for _, asked in tried)  # what confirms has chosen nothing
    assert found.asked == sum(len(asked) for _, asked in tried) <= 40
    names = [each.arm.name for each in found.tried] + [arm.name for arm in found.not_tried]
    assert len(names) == len(set(names))
    assert "keep 10" in names


def hours(number: int, *, needs: int) -> Question:
    """As `both`, of one town or two, and the answer must give the hours."""
    question = both(number)
    evidence = question.evidence[:needs]
    said = tuple(f"opens at {TOWNS.index(one.document.removesuffix('.md')) + 6}" for one in evidence)
    asked = question.question if needs == 2 else f"When does {evidence[0].document.removesuffix('.md')} open?"
    return Question(
        id=f"hours{needs}-{number}", question=asked, evidence=evidence, must_contain=said, kind=f"of {needs}"
    )


def test_two_faults_that_both_must_be_mended_are_found_in_a_pair(place: str, tmp_path: Path) -> None:
    """One passage is kept, and a floor that none reaches takes it away: either alone mends a third of the questions."""
    planted = Settings(retrieval=Retrieval(keep=1, floor=1.15))
    questions = [one for n in range(8) for one in (both(n), hours(n, needs=1), hours(n, needs=2))]
    bench = Workbench(place, planted, tmp_path / "bench")
    ask = Asking(bench)
    found = tune(bench, questions, ask=ask, judge=ScriptedJudge(), budget=Budget(questions=90))
    assert len(found.diagnosis.failed) == found.tuning == 12
    alone = {each.arm.name: each.gain for each in found.tried if len(each.arm.names) == 1}
    assert found.best is not None
    assert found.best.arm.names == ("keep 5", "lower floor")
    assert found.best.arm.patch == {"retrieval.keep": 5, "retrieval.floor": 0.3}
    assert found.best.gain == 1.0
    assert max(alone.values()) < 0.5
    assert found.confirmation is not None
    assert found.confirmation.is_kept
    assert (found.confirmation.succeeded.before, found.confirmation.succeeded.after) == (0, 1)
    assert found.asked == sum(len(asked) for name, asked in ask.asked[1:-2]) <= 90


class ScriptedAsking(Asking):
    """As it is, really asked; of what is tried a rule says which questions fail, and their `recall@5` is given."""

    def __init__(self, bench: Workbench, fails: Callable[[str, Question], bool], recall: float = 1.0) -> None:
        super().__init__(bench)
        self._fails = fails
        self._recall = recall

    def __call__(self, name: str, settings: Settings, questions: Sequence[Question]) -> Scored:
        if name == AS_IT_IS:
            return super().__call__(name, settings, questions)
        self.asked.append((name, tuple(question.id for question in questions)))
        found = (frozenset[int](), frozenset({0, 1}))
        outcomes = tuple(
            replace(outcome(each, ["p"], [("s", (1,))]), held=(found[not self._fails(name, each)],))
            for each in questions
        )
        return Scored(outcomes, tuple(Measured(each, {"recall@5": self._recall}) for each in questions), ())


def test_what_is_better_on_the_half_that_chose_it_alone_is_not_kept(place: str, tmp_path: Path) -> None:
    bench = Workbench(place, ONE_KEPT, tmp_path / "bench")
    confirming = {question.id for question in halves(QUESTIONS)[1]}
    ask = ScriptedAsking(bench, lambda _, question: question.id in confirming)
    found = tune(bench, QUESTIONS, ask=ask, judge=ScriptedJudge(), budget=Budget(questions=40))
    assert found.best is not None
    assert found.best.gain == 1.0
    assert found.confirmation is not None
    assert not found.confirmation.is_kept
    succeeded = found.confirmation.succeeded
    assert (succeeded.before, succeeded.after, succeeded.verdict) == (0, 0, Verdict.NO_DIFFERENCE)


def test_what_makes_a_headline_measure_worse_is_not_kept(place: str, tmp_path: Path) -> None:
    bench = Workbench(place, ONE_KEPT, tmp_path / "bench")
    ask = ScriptedAsking(bench, lambda *_: False, recall=0.0)
    confirmation = tune(bench, QUESTIONS, ask=ask, judge=ScriptedJudge(), budget=Budget(questions=40)).confirmation
    assert confirmation is not None
    assert (confirmation.succeeded.verdict, confirmation.compared.verdict) == (Verdict.KEEP, Verdict.DROP)
    assert not confirmation.is_kept


def test_the_best_need_not_be_what_came_furthest(place: str, tmp_path: Path) -> None:
    """Two mend the first eight questions and break the others; a third mends one, and is still better than nothing."""
    bench = Workbench(place, ONE_KEPT, tmp_path / "bench")
    questions = [*QUESTIONS, *(hours(number, needs=1) for number in range(16))]
    first = [question.id for question in halves(questions)[0]]
    failing = [name for name in first if name.startswith("q")]
    assert 1 < sum(name in failing for name in first[:8]) < 8

    def fails(name: str, question: Question) -> bool:
        at_first = question.id in first[:8]
        if name in ("keep 5", "keep 10"):
            return not at_first
        return question.id in failing and (name != "small to big" or question.id != failing[0])

    ask = ScriptedAsking(bench, fails)
    found = tune(bench, questions, ask=ask, judge=ScriptedJudge(), budget=Budget(questions=100))
    assert [(each.arm.name, each.questions, each.gain) for each in found.tried] == [
        ("keep 5", 16, 0.0),
        ("keep 10", 16, 0.0),
        ("small to big", 8, 1 / 8),
        ("keep 20", 8, 0.0),
    ]
    assert found.best is not None
    assert found.best.arm.name == "small to big"


class ScriptedClock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class TimedAsking(ScriptedAsking):
    """By its clock every answer takes two seconds; only what is asked first is remembered, and takes none."""

    def __init__(self, bench: Workbench, clock: ScriptedClock) -> None:
        super().__init__(bench, lambda *_: False)
        self._clock = clock

    def __call__(self, name: str, settings: Settings, questions: Sequence[Question]) -> Scored:
        self._clock.now += (0.1 if not self.asked else 2.0) * len(questions)
        scored = super().__call__(name, settings, questions)
        outcomes = tuple(replace(each, search_ms=100.0, answer_ms=1900.0) for each in scored.outcomes)
        return replace(scored, outcomes=outcomes)


def test_a_budget_of_minutes_is_kept_though_the_first_answers_were_remembered(place: str, tmp_path: Path) -> None:
    """Of 300 seconds 64 are for confirming 16 questions twice: there is time for 117 runs, and 78 before pairs.

    So there are four arms in two rounds, of 78 / 8 questions each; the better two go on to all sixteen. Both set
    `keep`, so that they make no pair.
    """
    bench, clock = Workbench(place, ONE_KEPT, tmp_path / "bench"), ScriptedClock()
    questions = [both(number) for number in range(32)]
    ask = TimedAsking(bench, clock)
    found = tune(bench, questions, ask=ask, judge=ScriptedJudge(), budget=Budget(minutes=5), clock=clock)
    assert found.confirmation is not None
    assert clock.now - 1000 <= 300
    assert [len(asked) for _, asked in ask.asked[1:-2]] == [9, 9, 9, 9, 7, 7]
    assert len(found.tried) == 4


def test_nothing_better_is_said_and_not_confirmed(place: str, tmp_path: Path) -> None:
    bench = Workbench(place, MANY_KEPT, tmp_path / "bench")
    ask = Asking(bench)
    found = tune(bench, QUESTIONS, ask=ask, judge=ScriptedJudge(), budget=Budget(questions=100))
    assert (found.diagnosis.failed, found.tried, found.best, found.confirmation) == ((), (), None, None)
    assert len(ask.asked) == 1


def test_without_time_nothing_is_tried(place: str, tmp_path: Path) -> None:
    bench = Workbench(place, ONE_KEPT, tmp_path / "bench")
    ticks = count(step=10.0)
    found = tune(
        bench,
        QUESTIONS,
        ask=Asking(bench),
        judge=ScriptedJudge(),
        budget=Budget(minutes=0.5),
        clock=lambda: next(ticks),
    )
    assert (found.asked, found.tried, found.best) == (0, (), None)
    assert found.not_tried[0].name == "keep 5"


def test_too_few_questions_are_refused(place: str, tmp_path: Path) -> None:
    bench = Workbench(place, ONE_KEPT, tmp_path / "bench")
    with pytest.raises(UsageError, match="15 questions are too few"):
        tune(bench, QUESTIONS[:15], ask=Asking(bench), judge=ScriptedJudge(), budget=Budget(questions=40))


@pytest.mark.parametrize("given", [{}, {"questions": 10, "minutes": 1.0}])
def test_a_budget_is_of_one_thing(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="question-runs or of minutes"):
        Budget(**given)  # type: ignore[arg-type]  # the wrong thing is given on purpose


def test_halves_have_as_many_of_each_kind_and_begin_with_all() -> None:
    sizes = {"often": 40, "sometimes": 20, "twice": 2, "odd": 7}
    questions = [
        Question(id=f"{kind}-{n}", question="?", kind=kind) for kind, size in sizes.items() for n in range(size)
    ]
    first, second = halves(questions)
    assert halves(questions) == (first, second)
    assert halves(questions, seed=1) != (first, second)
    assert sorted(each.id for each in (*first, *second)) == sorted(each.id for each in questions)
    assert abs(len(first) - len(second)) <= 1
    for kind, size in sizes.items():
        for half in (first, second):
            assert sum(each.kind == kind for each in half) in (size // 2, (size + 1) // 2)
    begun = Counter(each.kind for each in first[:17])
    assert 7 <= begun["often"] <= 13
    assert 3 <= begun["sometimes"] <= 7


def test_pairs_change_different_keys_and_go_together() -> None:
    def arm(name: str, patch: Patch) -> Arm:
        return Arm((name,), patch, patched(Settings(), patch))

    small, overlap = arm("small", {"chunking.size": 100}), arm("overlap", {"chunking.overlap": 60})
    keep, other = arm("keep 10", {"retrieval.keep": 10}), arm("keep 20", {"retrieval.keep": 20})
    made = list(pairs([small, overlap, keep, other], Settings()))
    assert [each.names for each in made] == [
        ("small", "keep 10"),
        ("small", "keep 20"),
        ("overlap", "keep 10"),
        ("overlap", "keep 20"),
    ]
    assert made[0].name == "small and keep 10"
    assert made[0].settings == patched(Settings(), {"chunking.size": 100, "retrieval.keep": 10})


def scripted(results: Sequence[float]) -> Callable[..., Scored]:
    """Answers the questions in turn with these values of `correct`."""
    left = iter(results)

    def ask(name: str, settings: Settings, questions: Sequence[Question]) -> Scored:
        outcomes = tuple(outcome(question, ["p"], [("s", (1,))]) for question in questions)
        return Scored(outcomes, tuple(Measured(each, {"correct": next(left)}) for each in questions), ())

    return ask


def test_an_arm_goes_on_where_it_was_and_stops_in_time() -> None:
    questions = [Question(id=f"{n}", question="?") for n in range(6)]
    is_time = [True, True, False]
    trials = Trials(questions, [True, True, False, None, True, True], scripted([1, 0, 1, 1, 1]), lambda: is_time.pop(0))
    arm = Arm(("keep 10",), {"retrieval.keep": 10}, Settings())
    assert trials.tried(arm).gain == float("-inf")
    assert trials.gain(arm, 2) == 0.5  # the first is mended
    assert trials.gain(arm, 2) == 0.5  # and nothing is asked again
    assert trials.gain(arm, 5) == 0.5  # 4 that can be told, of which 2 are mended
    assert trials.gain(arm, 6) == 0.5  # no time
    found = trials.tried(arm)
    assert (found.questions, found.failed, found.failed_before, trials.asked) == (4, 1, 3, 5)
    assert trials.tried(arm, 2).questions == 2
