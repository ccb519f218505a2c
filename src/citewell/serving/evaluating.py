"""The jobs that put a test set to the index: an evaluation of its settings, or a comparison of several.

Each question is asked with the groups that it says, whoever asks for the job: only an admin may, and only admins see
what comes of it. What is built or remembered on the way is gone when the job is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.checking.judge import Judge
from citewell.evaluation.judging.agreement import agreement_of
from citewell.evaluation.judging.configured import judge_for, remembering_llm
from citewell.evaluation.report.evaluated import Evaluated
from citewell.evaluation.report.shape import as_shape
from citewell.evaluation.scored import Scored, score
from citewell.evaluation.testset import Question, read_testset, to_score
from citewell.evaluation.trials import Variant, compare_settings, trials_shape
from citewell.evaluation.variants import Workbench
from citewell.evaluation.verdicts import WORTH
from citewell.models.minilm import MiniLM
from citewell.serving.jobs import COMPARISON, EVALUATION
from citewell.serving.overrides import Overrides
from citewell.serving.runner import Running, Work
from citewell.settings import Settings


def works(place: str, settings: Settings) -> Mapping[str, Work]:
    """What these jobs do with the index at that place, made with these settings. `wanted` of a job: `testset`, the name
    of a file in its spool; `judge`, `retrieval_only`; `settings`, each a name and what it overrides; `worth`.
    """

    def evaluate(running: Running) -> None:
        run = _Run.of(running, place, settings)
        ((name, wanted),) = run.settings
        scored, made = run.scored(name, wanted, 0)
        running.keep(as_shape(made))
        running.finish(len(scored.outcomes))

    def compare(running: Running) -> None:
        run, worth = _Run.of(running, place, settings), running.job.wanted["worth"]
        variants = [
            Variant(name, wanted, run.scored(name, wanted, at)[0]) for at, (name, wanted) in enumerate(run.settings)
        ]
        trials = compare_settings(variants, worth=WORTH if worth is None else worth)
        running.keep(trials_shape(trials, run.judge.name))
        running.finish(sum(len(each.scored.outcomes) for each in variants))

    return {EVALUATION: evaluate, COMPARISON: compare}


@dataclass(frozen=True, slots=True)
class _Run:
    """One job's: `settings` by their names, to be tried one after the other."""

    running: Running
    bench: Workbench
    settings: Sequence[tuple[str, Settings]]
    testset: Path
    questions: Sequence[Question]
    judge: Judge
    answers: bool

    @classmethod
    def of(cls, running: Running, place: str, settings: Settings) -> _Run:
        wanted = running.job.wanted
        bench = Workbench(place, settings, running.spool / ".bench")  # no test set is called so
        testset = running.spool / wanted["testset"]
        return cls(
            running=running,
            bench=bench,
            settings=[
                (each["name"], Overrides.model_validate(each["settings"]).over(settings)) for each in wanted["settings"]
            ],
            testset=testset,
            questions=to_score(read_testset(testset)),
            judge=judge_for(wanted["judge"], settings, bench.folder),
            answers=not wanted["retrieval_only"],
        )

    def scored(self, name: str, wanted: Settings, at: int) -> tuple[Scored, Evaluated]:
        """The run of the settings that are the `at`-th."""

        def step(asked: int, what: str) -> None:
            self.running.step(at * len(self.questions) + asked, len(self.settings) * len(self.questions), what)

        step(0, name)
        llm = remembering_llm(wanted, self.bench.folder) if self.answers else None
        # Where an index is built for it, the job can be cancelled between two documents.
        with self.bench.opened(wanted, llm=llm, on_progress=lambda _: step(0, name)) as index:
            scored = score(
                index,
                self.questions,
                judge=self.judge,
                embedder=MiniLM(self.bench.settings.models.threads),
                answers=self.answers,
                llm=llm,
                on_question=lambda done, _: step(done, name),
            )
            agreement = agreement_of(self.judge.name)
            return scored, Evaluated.of(index, self.testset, scored, judge=self.judge.name, agreement=agreement)
