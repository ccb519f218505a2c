"""Another day for the whole library: what it takes for now is asked in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from citewell import clock


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: moment)
        yield
