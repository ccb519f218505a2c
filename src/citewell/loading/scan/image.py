"""Pictures (PNG, JPEG, TIFF, BMP, WebP): read by OCR, and from there on the way of a PDF's pages."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citewell.errors import DamagedFile, LimitExceeded
from citewell.loading import pulse
from citewell.loading.bounds import check_pages
from citewell.loading.parsed import Parsed
from citewell.loading.pdf.document import build_pages
from citewell.loading.pdf.file import PdfFile
from citewell.loading.pdf.sheet import Frame, Sheet, View
from citewell.loading.scan.engine import available
from citewell.loading.scan.picture import read_picture
from citewell.settings import Loading

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
_MAX_PIXELS = 100_000_000
_WRONG = (OSError, SyntaxError, ValueError, EOFError, TypeError)
"""What Pillow raises for a file that is cut off or does not decode."""
_LIKELY = (2.0, 17.0)
"""Inches: how wide the shorter side of a page is. Many programs write 72 dots an inch whatever it is."""
_PAGE_WIDTH = 8.27
_SCREEN_DPI = 96
_FAX = (1.2, 2.5)
"""Times more dots an inch in one direction than in the other; with still more the file is wrong."""
_WRITING = 5
"""Lines; so many that OCR finds and cannot read are writing, and fewer may be anything in a photograph."""


def load_image(data: bytes, name: str, limits: Loading) -> Parsed:
    """Read a picture as a page, or each frame of a TIFF file; `name` stands in for a title.

    Raises:
        DamagedFile: it does not decode, or no frame of it does.
        LimitExceeded: more frames than `limits` allow, or a frame of more than 100 million pixels, not decoded then.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of damage that it can read over
        with _open(data) as image:
            sheets = tuple(_sheets(image, limits))
    if all(sheet.error for sheet in sheets):
        raise _damaged(sheets[0].error)
    return build_pages(PdfFile("", sheets), limits, name)


def _open(data: bytes) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError:
        raise _too_large() from None
    except UnidentifiedImageError:
        raise _damaged("its header is wrong") from None
    except _WRONG as error:
        raise _damaged(str(error)) from None


def _too_large() -> LimitExceeded:
    return LimitExceeded(
        f"It has more than {_MAX_PIXELS:,} pixels, more than any page.",
        remedy="Save it with fewer dots an inch, or cut it into pages, and index that.",
    )


def _damaged(reason: str) -> DamagedFile:
    return DamagedFile(
        f"It cannot be read as a picture: {reason}.", remedy="Open it in a viewer; if it shows, save it again as PNG."
    )


def _sheets(image: Image, limits: Loading) -> Iterator[Sheet]:
    # Further frames of other formats are previews and animations.
    frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    check_pages(frames, limits)
    read = limits.ocr != "off" and available() != ""
    for index in range(frames):
        try:
            image.seek(index)
            if image.width * image.height > _MAX_PIXELS:
                raise _too_large()
            pixels, dpi = _decoded(image)
        except _WRONG as error:
            # The other frames may be right.
            yield _sheet(index, Frame(0, 0, 1, 1, 0), error=str(error) or type(error).__name__)
            continue
        if read:
            yield _read(index, pixels, dpi)
            pulse.beat()
        else:
            height, width = pixels.shape[:2]
            yield _sheet(index, Frame(0, 0, width * 72 / dpi, height * 72 / dpi, 0))


def _read(index: int, pixels: NDArray[np.uint8], dpi: float) -> Sheet:
    scan = read_picture(pixels, dpi)
    frame = scan.frame.turned(0)
    if not scan.words and scan.illegible >= _WRITING:
        return _sheet(index, frame, error=f"OCR cannot read its {scan.illegible} lines")
    view = View(scan.frame, scan.words)
    return Sheet(
        number=index + 1,
        label=str(index + 1),
        frame=frame,
        views=(view,),
        rules=scan.rules,
        picture=1.0,
        looked_at=True,
        confidence=scan.confidence if scan.words else None,
    )


def _sheet(index: int, frame: Frame, error: str = "") -> Sheet:
    """A page of which nothing was read."""
    return Sheet(index + 1, str(index + 1), frame, picture=1.0, error=error)


def _decoded(image: Image) -> tuple[NDArray[np.uint8], float]:
    """The frame as a viewer shows it, (height, width, 3) or (height, width) grey, and its dots an inch."""
    from PIL import Image, ImageOps

    across, down = map(float, image.info.get("dpi", (0, 0)))
    upright = ImageOps.exif_transpose(_square(image, across, down))
    dpi = _likely(max(across, down), min(upright.size))
    if upright.mode.startswith(("I", "F")):
        return _eight_bits(np.asarray(upright, np.float32)), dpi
    if upright.has_transparency_data:
        painted = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", painted.size, "white"), painted)
    return np.asarray(upright.convert("L" if upright.mode in ("1", "L") else "RGB"), np.uint8), dpi


def _square(image: Image, across: float, down: float) -> Image:
    """The frame with as many dots an inch down as across: a fax has half of them."""
    if not (across > 0 and down > 0 and _FAX[0] < max(across / down, down / across) < _FAX[1]):
        return image
    width, height = image.size
    most = max(across, down)
    return image.convert("RGB").resize((round(width * most / across), round(height * most / down)))


def _eight_bits(deep: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Grey of 16 or 32 bits, from its own darkest to its own lightest: what is white in it is not always said."""
    low, high = float(deep.min()), float(deep.max())
    return np.asarray((deep - low) * (255 / max(high - low, 1e-9)), np.uint8)


def _likely(said: float, shorter: int) -> float:
    """Dots an inch: what the file says, if that makes a page, or else those of an A4 page or of a screen."""
    if said > 0 and _LIKELY[0] <= shorter / said <= _LIKELY[1]:
        return said
    return max(shorter / _PAGE_WIDTH, float(_SCREEN_DPI))
