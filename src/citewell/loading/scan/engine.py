"""The OCR engine: rapidocr (Apache-2.0), whose models come in its package, so that nothing is ever downloaded.

A page is searched for lines of text once (DB, arXiv:1911.08947); each line is cut out and read (CTC). The models are
PP-OCRv6's for Latin, Chinese and Japanese. Finding costs by the picture's area and is done on a smaller copy, reading
costs by the text's length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

SEARCH_DPI = 120
"""At which lines are searched for: 6 pt print is found as at 150, in half the time; at 100 its lines lose letters."""
_MAX_SEARCHED = 4_000_000
"""Pixels; searching takes 200 MB of memory for each million."""
_THREADS = 2
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}
_SURE = 0.5
"""Confidence; a line below it is a drawing's strokes, or in a script that the engine does not know."""
_CERTAIN = 0.85
_TALL = 1.5
"""Times as high as wide: from there on a line runs down or up."""
_VOTERS = 24
"""Lines; so many tell whether all stand upside down."""


@dataclass(frozen=True, slots=True, eq=False)
class ScannedLine:
    """A line as it was read. `corners` (4, 2) in pixels go round the line as its reader sees it: top left, top right,
    bottom right, bottom left. `places` are the middles of the text's signs along it, 0 to 1; `confidence` 0 to 1.
    """

    text: str
    corners: NDArray[np.float32]
    confidence: float
    places: tuple[float, ...]

    @property
    def legible(self) -> bool:
        """Whether it was read at all. For letters that the engine does not know it gives blanks, with some doubt."""
        blank = sum(map(str.isspace, self.text))
        letters = len(self.text) - blank
        return letters > 0 and self.confidence >= (_SURE if 2 * blank < letters else _CERTAIN)


def available() -> str:
    """The engine's name and version; "" where it is not installed."""
    try:
        return f"rapidocr {version('rapidocr')}"
    except PackageNotFoundError:
        return ""


def read_lines(image: Pixels, dpi: float) -> list[ScannedLine]:
    """The lines of text in a picture (height, width, 3), blue first, in no useful order; illegible ones too."""
    corners = _find(image, dpi)
    _turn_by_vote(image, corners)
    return [_read(image, own) for own in corners]


def cut_out(image: Pixels, corners: NDArray[np.float32]) -> Pixels:
    """What is between four corners, upright: (height, width, 3)."""
    import cv2

    width = max(math.ceil(_length(corners)), 1)
    height = max(math.ceil(np.linalg.norm(corners[3] - corners[0])), 1)
    upright = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    matrix = cv2.getPerspectiveTransform(corners, upright)
    cut = cv2.warpPerspective(image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cut, np.uint8)


@cache
def _engine() -> Any:
    from omegaconf import flag_override
    from rapidocr import RapidOCR

    engine = RapidOCR(
        params={
            "Global.log_level": "critical",  # it logs what it reads
            "Global.use_preprocess_img": False,  # it would make the picture smaller again
            "Global.use_cls": False,
            "Global.use_rec": False,
            "Global.return_word_box": True,
            "Det.limit_side_len": 32,
            "Det.max_candidates": 3000,  # a page of figures in small print has more than the usual thousand
            # Short lines are padded to the last number. With its 320 a page of figures costs twice as much; with
            # less than 160 it reads f for the pound sign.
            "Rec.rec_img_shape": [3, 48, 192],
        }
    )
    # Sessions of ours, since it offers no way to stop threads from spinning while they wait; with a session given
    # it neither looks for a model's file nor downloads one.
    with flag_override(engine.cfg, "allow_objects", True):
        for stage, model in _MODELS.items():
            engine.cfg[stage].session = _session(model)
    return engine


def _session(model: str) -> Any:
    from importlib.resources import files

    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    options.enable_cpu_mem_arena = False  # every line has another shape, and the arena keeps memory for each
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    data = (files("rapidocr") / "models" / model).read_bytes()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _find(image: Pixels, dpi: float) -> list[NDArray[np.float32]]:
    """The corners of each line, its text running right or down."""
    import cv2

    height, width = image.shape[:2]
    scale = min(1.0, SEARCH_DPI / dpi, math.sqrt(_MAX_SEARCHED / (height * width)))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else image
    boxes = _engine()(small).boxes
    if boxes is None:
        return []
    found = [np.asarray(box, np.float32) for box in boxes]
    high = [float(np.linalg.norm(box[3] - box[0])) / max(_length(box), 1.0) for box in found]
    # A page number is no wider than high: it stands as the longer lines do.
    turned = sum(share > _TALL for share in high) > sum(share < 1 / _TALL for share in high)
    limit = 1 / _TALL if turned else _TALL
    return [
        _widened(np.roll(box, -1, axis=0) if share > limit else box) / scale
        for box, share in zip(found, high, strict=True)
    ]


def _length(corners: NDArray[np.float32]) -> float:
    return float(np.linalg.norm(corners[1] - corners[0]))


def _widened(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Longer by a pixel at both ends: corners are whole pixels, and cut the outermost letters."""
    along = corners[1] - corners[0]
    step = along / max(_length(corners), 1.0)
    return np.asarray(corners + np.stack([-step, step, step, -step]), np.float32)


def _turn_by_vote(image: Pixels, corners: list[NDArray[np.float32]]) -> None:
    """Turn lines that stand upside down: those across and those down, each by a vote of their longest."""
    for across in (True, False):
        along = [box[1] - box[0] for box in corners]
        own = [at for at, (x, y) in enumerate(along) if (abs(x) >= abs(y)) == across]
        longest = sorted(own, key=lambda at: -_length(corners[at]))[:_VOTERS]
        if longest and _upside_down([cut_out(image, corners[at]) for at in longest]):
            for at in own:
                corners[at] = np.roll(corners[at], 2, axis=0)


def _upside_down(cuts: Sequence[Pixels]) -> bool:
    votes = _engine().cls_and_rotate(list(cuts))[1].cls_res
    return bool(sum((score - 0.5) * (1 if label == "180" else -1) for label, score in votes) > 0)


def _read(image: Pixels, corners: NDArray[np.float32]) -> ScannedLine:
    # One by one: a batch is padded to its longest line, which costs a third more.
    result = _engine().recognize_txt([cut_out(image, corners)])
    text, found = str(result.txts[0]), result.word_results[0]
    return ScannedLine(text, corners, float(result.scores[0]), _places(text, found))


def _places(text: str, found: Any) -> tuple[float, ...]:
    """Where each sign was read. A space, which the engine gives no place, has that of the sign before it."""
    columns = iter([column for word in found.word_cols for column in word])
    places: list[float] = []
    last = 0.0
    for sign in text:
        if not sign.isspace():
            last = min((next(columns) + 0.5) / found.line_txt_len, 1.0)
        places.append(last)
    return tuple(places)
