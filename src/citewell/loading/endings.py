"""What the ending of a file's name promises: told where the file is something else."""

from __future__ import annotations

from pathlib import PurePath

from citewell.loading.formats import TEXT_FORMATS, Format

_NAMES = {
    Format.PLAIN: "plain text",
    Format.CSV: "a table of separated values",
    Format.MARKDOWN: "Markdown",
    Format.HTML: "HTML",
    Format.CODE: "source code",
    Format.PDF: "a PDF",
    Format.DOCX: "a Word document (DOCX)",
    Format.PPTX: "a presentation (PPTX)",
    Format.SHEETS: "a spreadsheet",
    Format.MAIL: "a mail",
    Format.OUTLOOK: "a mail of Outlook (MSG)",
    Format.EPUB: "an e-book (EPUB)",
    Format.RTF: "an RTF document",
    Format.JSON: "JSON",
    Format.IMAGE: "an image",
    Format.ZIP: "a zip archive",
}
_ENDINGS = {
    **TEXT_FORMATS,
    "txt": Format.PLAIN,
    "pdf": Format.PDF,
    **dict.fromkeys(("docx", "docm", "dotx", "dotm"), Format.DOCX),
    **dict.fromkeys(("pptx", "pptm", "ppsx", "potx"), Format.PPTX),
    **dict.fromkeys(("xlsx", "xlsm", "xltx", "xlsb", "xls", "ods", "ots"), Format.SHEETS),
    "eml": Format.MAIL,
    "msg": Format.OUTLOOK,
    "epub": Format.EPUB,
    "rtf": Format.RTF,
    **dict.fromkeys(("png", "jpg", "jpeg", "tif", "tiff", "bmp", "webp"), Format.IMAGE),
    "zip": Format.ZIP,
    # Of what has no loader: whatever is read under such a name is something else.
    **dict.fromkeys("doc ppt odt odp gif heic psd mp3 mp4 wav gz bz2 xz 7z rar tar exe".split()),  # noqa: SIM905
}


def unlike_its_name(form: Format, name: str) -> str:
    """What to tell of a file of this format whose name ends as that of another; "" where nothing contradicts."""
    ending = PurePath(name.lower()).suffix.removeprefix(".")
    if ending not in _ENDINGS or _ENDINGS[ending] is form:
        return ""
    return f"it is {_NAMES[form]} though its name ends in .{ending}, and was read as what it is"
