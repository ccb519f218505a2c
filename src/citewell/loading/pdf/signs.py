"""What pdfium's text page says of many signs at once: which text objects drew them, and their boxes."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

_BOX = ctypes.sizeof(pdfium.FS_RECTF)


def _by_address(function: Any, result: Any, *arguments: Any) -> Any:
    """The function with plain numbers for pointers: a call then takes half the time, and there are two for a word."""
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_text_object = _by_address(pdfium.FPDFText_GetTextObject, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_loose_box = _by_address(pdfium.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def text_objects(textpage: Any, indices: Sequence[int]) -> list[int | None]:
    """The address of the text object of each sign; None for one that pdfium has made up."""
    return list(map(_text_object, repeat(textpage), indices))


def boxes(textpage: Any, indices: Sequence[int]) -> NDArray[np.float64]:
    """The loose box of each sign in the PDF's coordinates: (signs, 4), left, top, right, bottom."""
    found = np.zeros((len(indices), 4), dtype=np.float32)
    begin = found.ctypes.data
    places = range(begin, begin + found.nbytes, _BOX)
    deque(map(_loose_box, repeat(textpage), indices, places), maxlen=0)
    return found.astype(np.float64)
