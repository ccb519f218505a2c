"""PPTX: a page a slide, its shapes in reading order, then the speaker's notes."""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from citewell.errors import UnsupportedFormat
from citewell.loading.archive import check_archive
from citewell.loading.bounds import check_pages
from citewell.loading.office.properties import core_properties
from citewell.loading.parsed import Details, Parsed, TextBuilder
from citewell.loading.pptx.shapes import Frame, Placed, in_order, placed, take_first_choices
from citewell.loading.pptx.text import pieces
from citewell.settings import Loading
from citewell.types import ElementKind, PageState

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

_SECTION = "{http://schemas.microsoft.com/office/powerpoint/2010/main}section"
_SECTION_SLIDE = "{http://schemas.microsoft.com/office/powerpoint/2010/main}sldId"
_UNTITLED = frozenset({"PowerPoint Presentation", "PowerPoint-Präsentation", "Présentation PowerPoint", "Presentation"})
"""What programs call a file that nobody named."""


def load_pptx(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read titles, text, lists, tables, charts, diagrams, alternative texts and notes of the slides that are shown.

    The boxes are in points. Left out is what no reader sees: hidden slides, hidden shapes, shapes beside the slide;
    and dates, footers and slide numbers. The title is the file's property, else the first slide's, else its name.

    Raises:
        LimitExceeded, PasswordNeeded, DamagedFile: see `check_archive`.
        UnsupportedFormat: a template or slide show.
    """
    import pptx

    check_archive(data, limits)
    try:
        presentation = pptx.Presentation(io.BytesIO(data))
    except ValueError as error:  # Its main part is of another type.
        raise UnsupportedFormat(
            "It is a PowerPoint template or slide show.", remedy="Save it as a plain .pptx and index that."
        ) from error
    check_pages(len(presentation.slides), limits)
    builder = TextBuilder(limits)
    sections = _sections(presentation)
    frame = Frame.of_slide(presentation.slide_width or 0, presentation.slide_height or 0)
    section = first_title = ""
    for number, slide in enumerate(presentation.slides, start=1):
        begun = sections.get(slide.slide_id, section)
        title = _add_slide(builder, slide, number, frame, (section, begun))
        section, first_title = begun, first_title or title
    properties = core_properties(data)
    known = "" if properties.title in _UNTITLED else properties.title
    return builder.build(known or first_title or PurePath(name).stem, metadata=properties.metadata)


def _add_slide(builder: TextBuilder, slide: Slide, number: int, frame: Frame, section: tuple[str, str]) -> str:
    """Add a slide, below its section's name where one begins; returns its title. `section` is the last one and its."""
    if slide.element.get("show", "1") in {"0", "false"}:
        builder.start_page(number, str(number), PageState.SKIPPED, "it is a hidden slide")
        return ""
    take_first_choices(slide)
    shapes = list(placed(slide.shapes, frame))
    unseen = [shape for shape in shapes if shape.unseen and shape.has_text]
    shown = list(in_order([shape for shape in shapes if not shape.unseen]))
    title = next((shape for shape in shown if shape.is_title and shape.has_text), None)
    body = [(shape, piece) for shape in shown if shape is not title for piece in pieces(shape, slide)]
    notes = _notes(slide)
    has_text = title is not None or any(piece.kind is not ElementKind.IMAGE for _, piece in body)
    builder.start_page(number, str(number), *_state(shown, unseen, has_text, bool(notes)))
    before, now = section
    path = (now,) if now else ()
    if now != before:
        builder.add(ElementKind.HEADING, now, level=1)
    name = ""
    if title is not None:
        name = " ".join(title.text.split())
        path = (*path, name)
        builder.add(ElementKind.HEADING, name, level=len(path), path=path, box=title.box)
    for shape, piece in body:
        more = Details(header_rows=piece.header_rows, links=piece.links)
        builder.add(piece.kind, piece.text, path=path, box=shape.box, more=more)
    builder.add(ElementKind.FOOTNOTE, notes, path=path)
    return name


def _state(shown: list[Placed], unseen: list[Placed], has_text: bool, has_notes: bool) -> tuple[PageState, str]:
    if unseen:
        reasons = dict.fromkeys(shape.unseen for shape in unseen)
        return PageState.SUSPICIOUS, f"it holds text that is not shown, left out: {', '.join(reasons)}"
    if has_text:
        return PageState.TEXT, ""
    if any(shape.is_picture for shape in shown):
        return PageState.NEEDS_OCR, "it holds only pictures"
    return PageState.TEXT if has_notes else PageState.BLANK, ""


def _notes(slide: Slide) -> str:
    if not slide.has_notes_slide:
        return ""
    frame = slide.notes_slide.notes_text_frame
    return "" if frame is None else frame.text.replace("\v", "\n")


def _sections(presentation: Presentation) -> dict[int, str]:
    """The name of each slide's section, by the slide's id."""
    root: Any = presentation.element
    return {
        int(slide.get("id", "0")): " ".join(section.get("name", "").split())
        for section in root.iter(_SECTION)
        for slide in section.iter(_SECTION_SLIDE)
    }
