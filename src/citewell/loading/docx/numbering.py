"""The numbers that Word shows before headings and list items: counted by whoever reads the file, not stored in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lxml.etree import _Element

from citewell.loading.office.numerals import numeral

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
DEEPEST = 8
"""Levels that lists go in, from 0; Word has no more."""
_LONGEST_LABEL = 100


def w(tag: str) -> str:
    """The full name of an element or attribute of WordprocessingML."""
    return _W + tag


def value(parent: _Element | None, path: str) -> str | None:
    """The `w:val` of the element at `path` (names with / between) below `parent`; None where there is none."""
    found = parent.find("/".join(map(w, path.split("/")))) if parent is not None else None
    return None if found is None else found.get(w("val"))


def is_on(switch: _Element | None) -> bool:
    """Whether an element such as `w:b` is there and not switched off."""
    return switch is not None and switch.get(w("val"), "true") not in {"0", "false", "off"}


def whole_number(text: str | None, default: int = 0) -> int:
    """A count or level from an attribute; `default` where it is none."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,6}", text) else default


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    text: str
    style: str


@dataclass(frozen=True, slots=True)
class _Numbering:
    """A `w:num`. Those of one `definition` count on together, unless one `starts_anew`."""

    definition: str
    levels: dict[int, _Level]
    starts_anew: bool


@dataclass(slots=True)
class Labels:
    """Counts through the numberings of one document; ask for each paragraph once, in order."""

    _numberings: dict[str, _Numbering]
    _counts: dict[str, list[int]] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, numbering: _Element | None) -> Labels:
        """From the root of numbering.xml, or none."""
        if numbering is None:
            return cls({})
        definitions = {
            definition.get(w("abstractNumId"), ""): _levels(definition.iterfind(w("lvl")))
            for definition in numbering.iterfind(w("abstractNum"))
        }
        numberings = {}
        for num in numbering.iterfind(w("num")):
            definition = value(num, "abstractNumId") or ""
            overrides = num.findall(w("lvlOverride"))
            own = _levels(level for override in overrides for level in override.iterfind(w("lvl")))
            anew = {
                whole_number(override.get(w("ilvl"))): whole_number(value(override, "startOverride"))
                for override in overrides
                if override.find(w("startOverride")) is not None
            }
            levels = {
                depth: replace(level, start=anew.get(depth, level.start))
                for depth, level in (definitions.get(definition, {}) | own).items()
            }
            numberings[num.get(w("numId"), "")] = _Numbering(definition, levels, bool(anew))
        return cls(numberings)

    def depth_of_style(self, number_id: str, style_id: str) -> int | None:
        """The level that a numbering ties to a paragraph style."""
        numbering = self._numberings.get(number_id)
        levels = numbering.levels if numbering else {}
        return next((depth for depth, level in levels.items() if level.style == style_id), None)

    def next(self, number_id: str, depth: int) -> str:
        """The next label at `depth` (0 is outermost): "4.2", "(b)", "-" for a bullet, "" where none is shown."""
        numbering = self._numberings.get(number_id)
        if numbering is None or depth not in numbering.levels:
            return ""
        counts = self._counts.setdefault(numbering.definition, [])
        if numbering.starts_anew and number_id not in self._begun:
            counts.clear()
        self._begun.add(number_id)
        del counts[depth + 1 :]
        for missing in range(len(counts), depth + 1):
            level = numbering.levels.get(missing)
            # The last one is raised below, to its start.
            counts.append((level.start if level else 1) - (missing == depth))
        counts[depth] += 1
        return self._label(numbering.levels, depth, counts)

    @staticmethod
    def _label(levels: dict[int, _Level], depth: int, counts: list[int]) -> str:
        if levels[depth].form == "bullet":
            return "-"

        def shown(placeholder: re.Match[str]) -> str:
            at = int(placeholder[1]) - 1
            return numeral(counts[at], levels[at].form) if at < len(counts) and at in levels else ""

        return re.sub(r"%([1-9])", shown, levels[depth].text).strip()


def _levels(elements: Iterable[_Element]) -> dict[int, _Level]:
    return {
        depth: _Level(
            whole_number(value(element, "start"), 1),
            value(element, "numFmt") or "decimal",
            (value(element, "lvlText") or "")[:_LONGEST_LABEL],
            value(element, "pStyle") or "",
        )
        for element in elements
        if (depth := whole_number(element.get(w("ilvl")))) <= DEEPEST
    }
