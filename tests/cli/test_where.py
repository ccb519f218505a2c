from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from citewell.cli.where import Where, condition
from citewell.errors import FilterError
from citewell.filters import And, Equal, FieldType, Range

DECLARED = {"department": FieldType.TEXT, "amount": FieldType.NUMBER}


def test_nothing_given_is_no_condition() -> None:
    assert condition(None, DECLARED) is None
    assert condition([], DECLARED) is None


def test_of_several_all_must_be_met() -> None:
    legal, dear = Equal("department", "legal"), Range("amount", least=25.0)
    assert condition(["department = legal"], DECLARED) == legal
    assert condition(["department = legal", "amount >= 25"], DECLARED) == And((legal, dear))


@pytest.mark.parametrize(("given", "complaint"), [("", "expected a field"), ("cost = 5", "no field 'cost'")])
def test_a_wrong_one_is_refused(given: str, complaint: str) -> None:
    with pytest.raises(FilterError, match=complaint) as caught:
        condition(["department = legal", given], DECLARED)
    assert caught.value.exit_code == 2


def test_the_option_may_be_given_several_times() -> None:
    program, seen = typer.Typer(), []

    @program.command()
    def command(where: Where = None) -> None:
        seen.append(condition(where, DECLARED))

    for arguments in ([], ["--where", "amount >= 1", "--where", "amount <= 2"]):
        assert CliRunner().invoke(program, arguments).exit_code == 0
    assert seen == [None, And((Range("amount", least=1.0), Range("amount", most=2.0)))]
