"""Running headers and footers: what stands at the same place of many pages, page numbers included."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.loading.pdf.layout import Line, letters
from citewell.loading.pdf.sheet import Bookmark, Frame

ZONE = 0.13
"""Of the page's height, at its top and bottom."""
_MIN_PAGES = 3
_MIN_SHARE = 0.4
"""Of the pages from the first to the last with it: left and right pages may differ, and chapters have their own."""
_TITLE = "\0title"
_CHAPTER = re.compile(r"^(chapter|part)?\d*")
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"\b[ivxlcdm]+\b", re.IGNORECASE)
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}

Key = tuple[bool, int, str]


@dataclass(frozen=True, slots=True)
class Face:
    """The runs of one direction on one page; `main` for the direction of most of it."""

    page: int
    frame: Frame
    main: bool
    runs: tuple[Line, ...]


def without_furniture(faces: Sequence[Face], bookmarks: Sequence[Bookmark]) -> list[list[Line]]:
    """The runs of each face that are not running headers, footers or watermarks.

    A run counts as the same on two pages where its height on the page is the same and so is its text, or its text
    but for a number that goes with the pages, or where both are the title of a bookmark of an earlier page.
    """
    titles: dict[str, int] = {}
    for bookmark in bookmarks:
        titles.setdefault(_CHAPTER.sub("", letters(bookmark.title)), bookmark.page)
    sizes = Counter(size for face in faces for run in face.runs for size in [run.size] * len(run.words))
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    keys = [
        [_keys(face, run, usual, titles) if _may_be_furniture(face, run) else [] for run in face.runs] for face in faces
    ]
    pages: dict[Key, set[int]] = defaultdict(set)
    for face, own in zip(faces, keys, strict=True):
        for key in (key for of_run in own for key in of_run):
            pages[key].add(face.page)
    running = {key for key, numbers in pages.items() if _is_running(numbers)}
    return [
        _inside(face, [not running.isdisjoint(of_run) for of_run in own]) for face, own in zip(faces, keys, strict=True)
    ]


def _inside(face: Face, repeated: list[bool]) -> list[Line]:
    """The face without the runs that repeat, as `repeated` says, and have only such runs between them and the edge."""
    runs, middle = face.runs, face.frame.height / 2
    heights = [run.baseline for run, does in zip(runs, repeated, strict=True) if does]
    dropped = {at for at, run in enumerate(runs) if repeated[at] and run.words[0].style.skewed}
    downward = sorted(range(len(runs)), key=lambda at: runs[at].baseline)
    for inward, direction in ((downward, 1), (downward[::-1], -1)):
        for at in inward:
            run = runs[at]
            beside = any(abs(run.baseline - height) < 0.5 * run.size for height in heights)
            if (run.baseline - middle) * direction > 0 or not beside:
                break
            if repeated[at]:
                dropped.add(at)
    return [run for at, run in enumerate(runs) if at not in dropped]


def _may_be_furniture(face: Face, run: Line) -> bool:
    height = face.frame.height
    return run.bottom < ZONE * height or run.top > (1 - ZONE) * height or run.words[0].style.skewed


def _keys(face: Face, run: Line, usual: float, titles: Mapping[str, int]) -> list[Key]:
    """The run's text, and its text with each number that it holds as a distance from the page's own number.

    Not the latter in large type, for "Annex 1", "Annex 2" ... on a page each are headings.
    """
    at_bottom = run.top > face.frame.height / 2
    height = round((face.frame.height - run.baseline if at_bottom else run.baseline) / 3)
    text = run.text
    texts = [_same(text)]
    if run.size <= 1.1 * usual:
        values = [(match, int(match.group()[:9])) for match in _NUMBER.finditer(text)]
        values += [(match, _roman(match.group())) for match in _ROMAN.finditer(text)]
        texts += [
            f"{_same(text[: match.start()])}\0{value - face.page}\0{_same(text[match.end() :])}"
            for match, value in values
        ]
    plain = _CHAPTER.sub("", letters(text))
    if plain and titles.get(plain, face.page) < face.page:
        texts.append(_TITLE)
    # Two neighbouring steps of height, so that half a point more or less does not part what is the same.
    return [(at_bottom, step, same) for same in texts for step in (height, height + 1)]


def _same(text: str) -> str:
    """What of a text must be the same; OCR reads a dot between two words now with a space before it, now without."""
    return letters(text) or text


def _is_running(numbers: set[int]) -> bool:
    return len(numbers) >= _MIN_PAGES and len(numbers) >= _MIN_SHARE * (max(numbers) - min(numbers) + 1)


def _roman(text: str) -> int:
    digits = [_VALUES[sign] for sign in text.lower()]
    return sum(-value if value < after else value for value, after in zip(digits, [*digits[1:], 0], strict=True))
