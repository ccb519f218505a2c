from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.chunking import windows


@settings(deadline=None)
@given(tokens=st.integers(0, 5_000), size=st.integers(1, 400), data=st.data())
def test_windows_cover_the_text_and_none_lies_inside_the_one_before(
    tokens: int, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))

    spans = windows(tokens, size, overlap)

    assert [start for start, _ in spans] == [place * (size - overlap) for place in range(len(spans))]
    assert all(0 < end - start <= size for start, end in spans)
    assert all(later[1] > earlier[1] for earlier, later in pairwise(spans))
    assert all(later[0] <= earlier[1] for earlier, later in pairwise(spans))
    assert (spans[-1][1] if spans else 0) == tokens


@pytest.mark.parametrize("overlap", [-1, 10, 11])
def test_windows_that_would_not_advance_are_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="below size 10"):
        windows(100, 10, overlap)
