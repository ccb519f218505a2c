"""A completion of a given form: asked for as JSON, checked, and asked for once more where it is not of that form."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from citewell.models.llm import LLM, Completion, Prompt

VERSION = 1
"""Of the words below."""
_FORM = "Reply with one JSON object and nothing else. It follows this JSON schema:\n{schema}"
_AGAIN = "Your last reply was not of the form asked for: {problem}. Reply again, with the whole JSON object alone."

MAX_PROBLEMS = 5
MAX_PROBLEM_CHARS = 500

# A string as a whole, so that no comma in it is taken for one before a bracket.
# One that is cut off goes to the end: looking for another in it would take time by the square of its length.
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])', re.DOTALL)

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The last reply as the model wrote it, and what is wrong with it; `filtered`: the endpoint's filter cut it off."""

    reply: str
    problem: str
    filtered: bool = False


def complete_as(llm: LLM, prompt: Prompt, form: type[M]) -> M | Unreadable:
    """What the model answers, as a `form`; `Unreadable` where it is none at the second try either.

    The schema is added to the prompt's rules, and the endpoint holds the model to it where it can; for one that takes
    none see `models.schemas`. The second prompt says what was wrong in the words of the check alone: what the model
    made of hostile text does not come back to it.

    Raises:
        ServiceError: as `LLM.complete`.
    """
    schema = form.model_json_schema()
    rules = f"{prompt.system}\n\n{_FORM.format(schema=json.dumps(schema, ensure_ascii=False))}"
    asked = replace(prompt, system=rules, json_schema=schema)
    read = _read(llm.complete(asked), form)
    if isinstance(read, Unreadable) and not read.filtered:
        again = replace(asked, user=f"{prompt.user}\n\n{_AGAIN.format(problem=read.problem)}")
        read = _read(llm.complete(again), form)
    return read


def _read(reply: Completion, form: type[M]) -> M | Unreadable:
    if reply.finish_reason == "content_filter":
        return Unreadable(reply.text, "a filter cut it off", filtered=True)
    try:
        return form.model_validate(_object(reply.text))
    except ValidationError as error:
        return Unreadable(reply.text, _problem(error))
    except ValueError:
        return Unreadable(reply.text, "it holds no JSON object")


def _object(text: str) -> object:
    """The first object in it, without regard to words and fences around it, commas too many, and an end cut off.

    Raises:
        ValueError: there is none.
    """
    shown = text[text.index("{") :]
    try:
        return json.JSONDecoder().raw_decode(shown)[0]
    except (ValueError, RecursionError):
        return _mended(shown)


def _mended(shown: str) -> object:
    tidy = _TRAILING_COMMA.sub(lambda found: found[1] or "", shown)
    try:
        return json.JSONDecoder().raw_decode(tidy)[0]
    except (ValueError, RecursionError):
        # Values that are not whole are left out.
        return from_json(tidy, allow_partial=True)


def _problem(error: ValidationError) -> str:
    """Where and what, without the values, and without a name that the model made up."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[:MAX_PROBLEMS]
    said = "; ".join(f"{_place(each['loc'])}: {each['msg']}" for each in found)
    return " ".join(said.split())[:MAX_PROBLEM_CHARS]


def _place(parts: tuple[int | str, ...]) -> str:
    plain = [part if re.fullmatch(r"\w{1,40}", str(part)) else "a name" for part in parts]
    return ".".join(map(str, plain)) or "the object"
