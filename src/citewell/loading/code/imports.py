"""The imports that a definition uses, which a piece of it needs above it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

_MOST_IMPORTED = 240  # characters, of all import lines together: they must leave room for the code
_LONGEST_IMPORT = 120

# Where the names come from, which are then no names: `from x import` of Python, and of JavaScript `from "x"`.
_MODULE = re.compile(r"^\s*from\s+\S+\s+import\b|\bfrom\s*(['\"]).*?\1|(?<==)\s*require\s*\(.*", re.DOTALL)
_QUOTED = re.compile(r"['\"<]\s*([^'\"<>\n]+)['\">]")
_ENDING = re.compile(r"\.\w{1,4}$")
# A name, and nothing of the path to it; what is renamed goes by its new name.
_BOUND = re.compile(r"[^\W\d]\w*+(?!\s*(?:\.|::|\\|/|\bas\b|=>))")
_KEYWORDS = frozenset(
    """
    import from use using include require require_relative extern crate static self super pub const let var type
    typeof function namespace global as in alias
    """.split()  # noqa: SIM905  Words read better as words.
)
_NOT_IN_FOLDED = str.maketrans("", "", "_-")


def bound_names(statement: str) -> set[str]:
    """The names that an import brings in, in any of the languages; those of quoted files folded."""
    without_module = _MODULE.sub(" ", statement)
    files = (_ENDING.sub("", path).rsplit("/", 1)[-1] for path in _QUOTED.findall(without_module))
    return set(_BOUND.findall(_QUOTED.sub(" ", without_module))) - _KEYWORDS | {_folded(name) for name in files}


def _folded(name: str) -> str:
    """A file's name and that of what is in it are seldom spelt alike: `http_client.h`, `HttpClient`."""
    return "file:" + name.casefold().translate(_NOT_IN_FOLDED)


@dataclass(slots=True)
class Imports:
    """A file's import statements, to be asked for those that bring in certain names."""

    _statements: list[tuple[int, str]] = field(default_factory=list)
    _first_with: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, statements: Iterable[tuple[int, str]]) -> Imports:
        """From the line of each, and its text."""
        found = cls()
        for number, (line, statement) in enumerate(statements):
            found._statements.append((line, statement))
            for name in bound_names(statement):
                found._first_with.setdefault(name, number)
        return found

    def using(self, names: Collection[str], *, shown: range = range(0)) -> Iterator[str]:
        """The first to bring in each of `names`, in order, a line each, shortened to what it takes of these.

        Without those on the lines that are `shown` in any case.
        """
        if not self._statements:
            return
        known = {name for own in names for name in (own, _folded(own)) if name in self._first_with}
        room = _MOST_IMPORTED
        for number in sorted({self._first_with[name] for name in known}):
            line, statement = self._statements[number]
            if line in shown:
                continue
            short = _shortened(statement, known)
            room -= len(short) + 1
            if room < 0:
                return
            yield short


def _shortened(statement: str, names: set[str]) -> str:
    """One that goes over lines is its first line and those with a name that is used."""
    first, *rest = statement.strip().splitlines()
    kept = [first, *(line for line in rest if not names.isdisjoint(bound_names(line)))]
    return " ".join(" ".join(kept).split())[:_LONGEST_IMPORT]
