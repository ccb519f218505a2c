"""The line above a passage when it is embedded: where the passage stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from citewell.chunking.measured import Measured
from citewell.chunking.ruler import Tokenise
from citewell.chunking.shorten import without_middle

BETWEEN_HEADINGS = " › "
# Characters: a warning names a path, it does not print a page.
SHOWN_IN_WARNING = 200


def prefix(title: str, headings: Sequence[str], token_spans: Tokenise, max_tokens: int) -> str:
    """`title › heading › heading` and a line end, in at most `max_tokens` tokens; "" where there is nothing to say.

    Too long, it loses headings from the middle: title, outermost and innermost stay as long as they fit.
    """
    line = without_middle(_names(title, headings), BETWEEN_HEADINGS, token_spans, max_tokens)
    return f"{line}\n" if line else ""


@dataclass(frozen=True, slots=True)
class Places:
    """The prefixes of a document. Those that had to be shortened are reported together."""

    measured: Measured
    _lines: dict[tuple[str, ...], str] = field(default_factory=dict)
    _shortened: dict[str, None] = field(default_factory=dict)

    def line(self, headings: tuple[str, ...], path: tuple[str, ...]) -> str:
        """The prefix of a passage below `headings`, which are all of its section's `path` that it does not show."""
        # A document's first heading is often its title: once is enough.
        title = " ".join(self.measured.document.own_title.split())
        names = tuple(_names("" if path[:1] == (title,) else title, headings))
        if names not in self._lines:
            self._lines[names] = prefix("", names, self.measured.token_spans, self.measured.place_room)
        if self._lines[names].rstrip("\n") != BETWEEN_HEADINGS.join(names):
            self._shortened[BETWEEN_HEADINGS.join(_names(title, path))] = None
        return self._lines[names]

    def warnings(self) -> Iterator[str]:
        """One warning at most."""
        if self._shortened:
            longest = max(self._shortened, key=len)
            shown = longest if len(longest) <= SHOWN_IN_WARNING else f"{longest[:SHOWN_IN_WARNING]} ..."
            number = len(self._shortened)
            paths = "1 heading path was" if number == 1 else f"{number} heading paths were"
            yield f"{paths} shortened to fit above the text; the longest: {shown}"


def _names(title: str, headings: Sequence[str]) -> list[str]:
    return [name for name in (" ".join(name.split()) for name in (title, *headings)) if name] or [""]
