"""The judge that a user names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from citewell.checking.aligned import AlignedJudge
from citewell.checking.judge import Judge
from citewell.errors import UsageError
from citewell.evaluation.completions import RememberedLLM
from citewell.evaluation.judging.remembered import RememberedJudge
from citewell.models import configured
from citewell.models.minilm import MiniLM
from citewell.settings import Settings

NAMES = "aligned, llm or nli:FOLDER"


def judge_for(name: str, settings: Settings, kept: Path) -> Judge:
    """`aligned` is ours and needs no model, `llm` asks the language model of the settings, `nli:FOLDER` a classifier.

    What a model judged is remembered in the folder `kept`, so that a run that was stopped goes on.

    Raises:
        UsageError: there is no such judge, or the settings name no language model.
    """
    kind, _, folder = name.partition(":")
    if name == "aligned":
        return AlignedJudge(MiniLM(settings.models.threads))
    if name == "llm":
        return RememberedJudge(_asked(settings), kept / "judgements.jsonl")
    if kind == "nli" and folder:
        from citewell.evaluation.judging.entailed import EntailedJudge

        return RememberedJudge(EntailedJudge(Path(folder), settings.models.threads), kept / "judgements.jsonl")
    raise UsageError(f"There is no judge {name!r}.", remedy=f"Name one of {NAMES}.")


def _asked(settings: Settings) -> Judge:
    from citewell.evaluation.judging.asked import AskedJudge

    llm = configured.llm(settings.models)
    if llm is None:
        raise UsageError(
            "The judge is a language model, and the settings name none.",
            remedy='Set llm in [models], or judge with "aligned", which needs no model.',
        )
    return AskedJudge(llm, _model(settings))


def remembering_llm(settings: Settings, kept: Path) -> RememberedLLM | None:
    """The language model of the settings, with what it writes kept in the folder; None for "none"."""
    llm = configured.llm(settings.models)
    return RememberedLLM(llm, _model(settings), kept / "completions.jsonl") if llm is not None else None


def _model(settings: Settings) -> str:
    """The model, and where it is: two servers may call two models alike. Without what may be secret in the URL."""
    url = urlsplit(settings.models.llm_url)
    place = f"{url.netloc.rpartition('@')[2]}{url.path}"
    return f"{settings.models.llm} at {place}" if place else settings.models.llm
