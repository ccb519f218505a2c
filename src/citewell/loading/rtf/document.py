"""RTF (Rich Text Format 1.9.1) in one pass: paragraphs, headings by outline level, lists, tables, notes."""

from __future__ import annotations

import codecs
import re
import struct
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from citewell.errors import DamagedFile
from citewell.loading.parsed import Parsed, TextBuilder
from citewell.loading.rtf.blocks import Blocks
from citewell.loading.rtf.words import PASSED_OVER, SIGNS, charset_encoding, code_page, tokens
from citewell.settings import Loading
from citewell.types import ElementKind

_DEEPEST = 1_000
_LEVELS = 9
_MOST_SUBSTITUTES = 8
_LINK = re.compile(r"HYPERLINK\s+\"([^\"]+)\"")
# Groups whose text is gathered for itself, and not in the paragraph that they stand in.
_APART = frozenset({"footnote", "shptxt", "listtext", "pntext", "fldinst", "title", "author", "creatim", "revtim"})
_TIMES = {"creatim": "created", "revtim": "modified"}
_PROPERTIES = frozenset({"title", "author", *_TIMES})
_BLOCK_ENDS = frozenset({"par", "sect", "page", "cell", "row", "nestcell", "nestrow"})


def load_rtf(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read an RTF document; not its headers, comments and pictures. Its title is the file's property, else the first
    heading, else the file's name. Hidden text and deleted text are left out, and hidden text makes it suspicious. A
    group without an end is what cutting the file off leaves, and noted as lost.

    Raises:
        DamagedFile: groups nested deeper than any program writes.
    """
    reading = _Reading(Blocks(TextBuilder(limits)))
    for word, number, content in tokens(data):
        reading.take(word, number, content)
    lost = ("it ends before its last group does, and may be cut short",) if reading.groups else ()
    reading.finish()
    about = reading.about
    parsed = reading.blocks.builder.build(
        about.pop("title", "") or reading.blocks.first_heading or PurePath(name).stem, metadata=about
    )
    suspicious = ("It holds hidden text, which was left out",) if reading.saw_hidden else ()
    return replace(parsed, suspicious=suspicious, lost=lost)


@dataclass(slots=True)
class _Group:
    """What counts up to the closing brace. `place` is the table of fonts or the group apart that it is in."""

    encoding: str
    place: str = ""
    opens: bool = False  # is the one that began the group apart
    skipped: bool = False
    hidden: bool = False
    deleted: bool = False
    substitutes: int = 1  # signs after a \u for readers without Unicode
    level: int | None = None
    in_table: bool = False
    depth: int = 0


@dataclass(slots=True)
class _Reading:
    """The state of the reader: open groups, and the text that has come since the last paragraph end."""

    blocks: Blocks
    group: _Group = field(default_factory=lambda: _Group("cp1252"))
    groups: list[_Group] = field(default_factory=list)
    default: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict)
    font: int = 0
    parts: list[str] = field(default_factory=list)
    around: list[list[str]] = field(default_factory=list)  # the parts of what the groups apart stand in
    raw: bytearray = field(default_factory=bytearray)
    units: list[int] = field(default_factory=list)  # UTF-16
    to_skip: int = 0
    at_start: bool = False  # of a group
    starred: bool = False
    mark: str = ""
    links: list[str] = field(default_factory=list)
    notes_seen: int = 0
    header_row: bool = False
    about: dict[str, str] = field(default_factory=dict)
    time: dict[str, int] = field(default_factory=dict)
    saw_hidden: bool = False

    def take(self, word: str, number: int | None, content: bytes) -> None:
        """Take one token; see `tokens`."""
        if word in ("", "'"):
            self._take_bytes(content)
        elif word == "u" and number is not None:
            self._flush_bytes()
            self.units.append(number & 0xFFFF)
            self.to_skip = self.group.substitutes
            return
        else:
            self.to_skip = 0
            self._flush()
            if word == "{":
                self._open()
            elif word == "}":
                self._close()
            elif word == "*":
                self.starred = True
                return
            elif (self.at_start or self.starred) and self._begins_destination(word):
                pass
            else:
                self._obey(word, number)
        self.at_start = word == "{"
        self.starred = False

    def finish(self) -> None:
        self._flush()
        while self.groups:
            self._close()
        self._end_paragraph()
        self.blocks.finish()

    def _take_bytes(self, content: bytes) -> None:
        skipped = min(self.to_skip, len(content))
        self.to_skip -= skipped
        if len(content) > skipped and not self.group.skipped:
            self._flush_units()
            self.raw += content[skipped:]

    def _flush(self) -> None:
        self._flush_bytes()
        self._flush_units()

    def _flush_bytes(self) -> None:
        if self.raw:
            self._write(self.raw.decode(self.group.encoding, errors="replace"))
            self.raw.clear()

    def _flush_units(self) -> None:
        if self.units:
            self._write(struct.pack(f"<{len(self.units)}H", *self.units).decode("utf-16-le", errors="replace"))
            self.units.clear()

    def _write(self, text: str) -> None:
        group = self.group
        if group.skipped or group.deleted:
            return
        if group.hidden:
            self.saw_hidden = self.saw_hidden or bool(text.strip())
            return
        self.parts.append(text)

    def _open(self) -> None:
        self.groups.append(self.group)
        if len(self.groups) > _DEEPEST:
            raise DamagedFile("Its groups are nested too deep.", remedy="Open it in a word processor, save it again.")
        self.group = replace(self.group, opens=False)

    def _close(self) -> None:
        if not self.groups:
            return
        closed, self.group = self.group, self.groups.pop()
        if closed.opens:
            text = "".join(self.parts)
            self.parts = self.around.pop()
            self._deliver(closed.place, text)

    def _begins_destination(self, word: str) -> bool:
        """Whether the word says that the group holds something other than more of the text around it."""
        if word in _APART and (word not in _PROPERTIES or self.group.place == "info") and not self.group.opens:
            self._open_apart(word)
        elif word == "ud":  # the same text once more, in Unicode
            self.group.skipped = False
        elif word in PASSED_OVER or self.starred or word in _APART:
            self.group.skipped = True
            self.group.place = word
        else:
            return False
        return True

    def _open_apart(self, word: str) -> None:
        group = self.group
        if word == "footnote":
            self.notes_seen += 1
            self._write(f"[{self.notes_seen}]")
        self.around.append(self.parts)
        self.parts = []
        group.place, group.opens, group.in_table = word, True, False
        # What is hidden or deleted stays so; what is passed over may hold text boxes and properties.
        group.skipped = False

    def _deliver(self, place: str, text: str) -> None:
        """Put what a group apart held where it belongs."""
        line = " ".join(text.split())
        match place:
            case "footnote":
                self.blocks.add_aside(ElementKind.FOOTNOTE, f"[{self.notes_seen}] {line}" if line else "")
            case "shptxt":
                self.blocks.add_aside(ElementKind.PARAGRAPH, text)
            case "listtext" | "pntext":
                self.mark = line
            case "fldinst":
                self.links += _LINK.findall(line)
            case "title" | "author":
                self.about[place] = line
            case "creatim" | "revtim":
                self.about[_TIMES[place]] = _iso(self.time)
                self.time.clear()

    def _obey(self, word: str, number: int | None) -> None:
        if word in SIGNS:
            self._write(SIGNS[word])
        elif word in _BLOCK_ENDS:
            if not self.group.skipped:
                self._end_block(word)
        elif word in ("trowd", "trhdr"):
            self.header_row = word == "trhdr"
        elif word in ("yr", "mo", "dy", "hr", "min"):
            self.time[word] = number or 0
        else:
            self._obey_look(word, number)

    def _obey_look(self, word: str, number: int | None) -> None:
        group = self.group
        match word:
            case "pard":
                group.level, group.in_table, group.depth = None, False, 0
            case "plain":
                group.hidden = group.deleted = False
            case "v":
                group.hidden = number != 0
            case "deleted":
                group.deleted = number != 0
            case "intbl":
                group.in_table = True
            case "outlinelevel":
                group.level = number + 1 if number is not None and 0 <= number < _LEVELS else None
            case "ilvl":
                group.depth = min(max(number or 0, 0), _LEVELS - 1)
            case "uc":
                group.substitutes = min(max(number or 0, 0), _MOST_SUBSTITUTES)
            case _:
                self._obey_encoding(word, number)

    def _obey_encoding(self, word: str, number: int | None) -> None:
        match word:
            case "ansicpg":
                self.default = self.group.encoding = _known(code_page(number or 1252))
            case "mac" | "pc" | "pca":
                self.default = self.group.encoding = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
            case "f":
                self.font = number or 0
                if self.group.place != "fonttbl":
                    self.group.encoding = self.fonts.get(self.font) or self.default
            case "fcharset" if self.group.place == "fonttbl":
                self.fonts[self.font] = charset_encoding(number or 0) if number else ""

    def _end_block(self, word: str) -> None:
        if self.group.place in _APART:
            self.parts.append("\n")
        elif word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word in ("nestcell", "nestrow"):
            self.blocks.add_to_cell(self._taken())
        elif word == "cell":
            self.blocks.add_to_cell(self._taken())
            self.blocks.end_cell()
        else:
            self.blocks.end_row(self.header_row)

    def _end_paragraph(self) -> None:
        mark, self.mark = self.mark, ""
        links, text = tuple(self.links), self._taken()
        if self.group.in_table:
            self.blocks.add_to_cell(f"{mark} {text}".strip())
        elif mark and text.strip() and self.group.level is None:
            self.blocks.add_item(mark, text, self.group.depth)
        else:
            self.blocks.add_paragraph(f"{mark} {text}" if mark else text, self.group.level, links)

    def _taken(self) -> str:
        text = "".join(self.parts)
        self.parts.clear()
        self.links.clear()
        return text


def _iso(time: dict[str, int]) -> str:
    year, month, day, hour, minute = (time.get(key, 0) for key in ("yr", "mo", "dy", "hr", "min"))
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}" if year else ""


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return "cp1252"
