"""The error tree: drawn as it is, each with a remedy, and whole across processes."""

import pickle
import re
from collections.abc import Iterator

from citewell import errors
from citewell.errors import CitewellError, IndexLocked


def tree(kind: type[CitewellError]) -> Iterator[type[CitewellError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from tree(child)


def test_the_page_draws_every_error() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    public = [kind for kind in tree(CitewellError) if kind.__module__ == errors.__name__ and kind is not CitewellError]
    assert sorted(drawn) == sorted(kind.__name__ for kind in public)


def test_exit_codes_are_the_documented_ones() -> None:
    codes = {kind.__name__: kind.exit_code for kind in tree(CitewellError)}
    assert codes["LoadError"] == codes["DamagedFile"] == 1
    assert codes["UsageError"] == codes["IndexNotFound"] == 2
    assert codes["Refused"] == codes["IndexLocked"] == 3
    assert codes["ServiceError"] == codes["ServiceRefused"] == 4


def test_an_error_survives_a_process_border() -> None:
    copy = pickle.loads(pickle.dumps(IndexLocked("held by 12.", remedy="Wait.")))  # noqa: S301  # our own bytes
    assert isinstance(copy, IndexLocked)
    assert (copy.message, copy.remedy, str(copy)) == ("held by 12.", "Wait.", "held by 12. Wait.")
