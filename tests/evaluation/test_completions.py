"""What a language model wrote is kept, whatever it is, and whenever the run is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.errors import ServiceUnreachable
from citewell.evaluation.completions import RememberedLLM
from citewell.models.llm import Completion, Prompt


class ScriptedEcho:
    """Says the prompt back."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.asked.append(prompt.user)
        if prompt.user == "fail":
            raise ServiceUnreachable("No.", remedy="Later.")
        return Completion(prompt.user, 1, 2, "length")


def prompt(user: str, max_tokens: int = 10) -> Prompt:
    return Prompt("rules", user, max_tokens)


@pytest.mark.parametrize("text", ["plain", "two\nlines\u2028three", "\x00\x1f", "\ud800 half", "日本"])
def test_it_is_the_same_the_next_time(tmp_path: Path, text: str) -> None:
    model, path = ScriptedEcho(), tmp_path / "kept.jsonl"
    first = RememberedLLM(model, "m", path).complete(prompt(text))
    again = RememberedLLM(model, "m", path)
    assert again.complete(prompt(text)).text == text.encode("utf-8", "replace").decode()
    assert (first.finish_reason, again.complete(prompt(text)).finish_reason) == ("length", "length")
    assert len(model.asked) == 1
    assert path.stat().st_mode & 0o777 == 0o600


def test_another_prompt_model_or_limit_is_another(tmp_path: Path) -> None:
    model, path = ScriptedEcho(), tmp_path / "kept.jsonl"
    RememberedLLM(model, "m", path).complete(prompt("a"))
    RememberedLLM(model, "n", path).complete(prompt("a"))
    RememberedLLM(model, "m", path).complete(prompt("a", max_tokens=11))
    RememberedLLM(model, "m", path).complete(Prompt("other rules", "a", 10))
    assert len(model.asked) == 4


def test_a_failure_is_not_remembered(tmp_path: Path) -> None:
    model = ScriptedEcho()
    remembered = RememberedLLM(model, "m", tmp_path / "kept.jsonl")
    for _ in range(2):
        with pytest.raises(ServiceUnreachable):
            remembered.complete(prompt("fail"))
    assert len(model.asked) == 2


def test_a_line_that_a_kill_cut_short_is_asked_again_and_the_next_is_whole(tmp_path: Path) -> None:
    model, path = ScriptedEcho(), tmp_path / "kept.jsonl"
    for user in ("a", "b"):
        RememberedLLM(model, "m", path).complete(prompt(user))
    path.write_bytes(path.read_bytes()[:-20])
    again = RememberedLLM(model, "m", path)
    again.complete(prompt("a"))
    again.complete(prompt("b"))
    assert model.asked == ["a", "b", "b"]
    RememberedLLM(model, "m", path).complete(prompt("b"))
    assert model.asked == ["a", "b", "b"]
