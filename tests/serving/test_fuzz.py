"""Requests of any shape over the whole OpenAPI schema: no fault, and no answer that the schema does not say.

Bounded: so many requests of each route, as an admin and as a reader, with ids that there are and with ids that there
are not. The index is a copy, as some of the routes take away what is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.result import Ok

from citewell.serving.app import create_app
from tests.serving.conftest import QUESTION, settings_at
from tests.serving.served import Served, serving, uploaded
from tests.serving.test_refused import OF_LIBRARIES

EXAMPLES = 8
"""Of each route, for each caller: some as the schema says, some as it does not, some with an id that there is."""
LAST = ("delete",)
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
"""Not that all is taken that fits the schema, which does not say how a filter is written or whose groups there are; nor
that nothing else is: a query may have more parameters than a route reads. `test_ask.py` has wrong bodies."""


@pytest.fixture(scope="module")
def copied(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("fuzzed")
    shutil.copytree(built / "index", folder / "index")
    with serving(create_app(folder / "index", settings_at(folder))) as served:
        yield served


@pytest.mark.parametrize(("name", "scope"), [("root", "admin"), ("ann", "read")])
def test_no_request_is_a_fault_and_every_answer_is_as_the_schema_says(copied: Served, name: str, scope: str) -> None:
    client = copied.client(name, scope, "board", "fraud_team")
    ids = _ids(copied, name, scope)
    fuzz = _Fuzz(copied.url, {"Authorization": client.headers["Authorization"]})
    schema = schemathesis.openapi.from_dict(copied.client().get("/openapi.json").json())
    found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    assert len(found) >= 25
    for operation in sorted(found, key=lambda operation: operation.method in LAST):
        kinds = [operation.as_strategy(mode) for mode in GenerationMode]
        if known := {each: one for each, one in ids.items() if f"{{{each}}}" in operation.path}:
            kinds.append(operation.as_strategy(path_parameters=known))
        fuzz(st.one_of(kinds))


def _ids(served: Served, name: str, scope: str) -> dict[str, str]:
    """Of what there is for this caller, by the names that the paths have for it."""
    client, root = served.client(name, scope), served.client("root", "admin", "board", "fraud_team")
    talk = client.post("/v1/conversations").json()["conversation"]
    assert client.post("/v1/ask", json={"question": QUESTION, "conversation": talk}).json()["turn"]
    job = uploaded(root, f"{name}.md", "# Fees\n\nA second card costs nine euros a year.\n")
    document = job["result"]["files"][0]["document"]
    return {"document_id": document, "job_id": job["job"], "conversation_id": talk}


@dataclass(frozen=True, slots=True)
class _Fuzz:
    url: str
    headers: dict[str, str]

    def __call__(self, cases: Any) -> None:
        load_all_checks()
        checks: list[Any] = CHECKS.get_by_names(CHECKED)

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(cases)
        def answered(case: Case[Any]) -> None:
            answer = case.call_and_validate(self.url, headers=self.headers, checks=checks)
            if answer.status_code >= 400:
                assert not OF_LIBRARIES.search(answer.json()["error"]["message"]), answer.text

        answered()
