"""What may make the figures of a test set wrong, said beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from citewell.cli.terminal import complain, count

if TYPE_CHECKING:
    from citewell.evaluation.scored import Scored
    from citewell.index import Index


def tell_of_dead_evidence(index: Index, testset: Path, scored: Scored, under: str = "") -> None:
    """Of how many questions the evidence is not where it should be; `under` names the settings where there are several.

    Only those of which it was not found are looked into: for the others it is there.
    """
    from citewell.evaluation.references import Fault, check

    unfound = [question for question in scored.unfound if question.answerable]
    found = check(index, unfound) if unfound else ()
    # A question that stands in a document is no reason that its evidence is not found.
    dead = {finding.question for finding in found if finding.fault is not Fault.LEAK}
    if dead:
        beginning = f"{under}: " if under else ""
        complain(
            f"{beginning}the evidence of {count(len(dead), 'question')} of {testset} is not where it should be, which "
            "lowers the figures.",
            f"`citewell testset check {testset}` names them.",
        )
