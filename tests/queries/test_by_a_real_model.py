"""The real small model: what it writes is worth little; the path to it is walked. Two short calls, for it is slow."""

from __future__ import annotations

import pytest

from citewell.models.chat import Chat
from citewell.models.counted import CountedLLM
from citewell.models.openai_compatible import OpenAICompatible
from citewell.queries.broader import broader
from citewell.queries.marks import marks
from citewell.queries.variants import variants
from citewell.retrieval.query import Role
from tests.models.small_llm import served

QUESTION = "What does code R-17 mean, and who may release the card?"


@pytest.mark.llm
@pytest.mark.xdist_group("llm")
def test_a_real_model_writes_a_list_and_a_question() -> None:
    with served() as url:
        llm = CountedLLM(Chat(OpenAICompatible("small", url)))
        written = {Role.VARIANT: variants(llm, QUESTION, 1), Role.BROADER: broader(llm, QUESTION)}
    assert llm.usage.prompt_tokens > 0
    assert llm.usage.completion_tokens > 0
    for role, made in written.items():
        assert {query.role for query in made} <= {role}
        assert all(marks(query.text) <= marks(QUESTION) for query in made)
