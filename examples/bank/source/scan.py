"""Makes printed pages look as if they came from a scanner, and binds them as a PDF without any text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from PIL import Image, ImageChops, ImageFilter

from source.sheet import DPI

SKEW = 0.55
"""Degrees that a sheet lies askew at most."""
GRAIN = 12
"""Steps of grey between the darkest and the lightest grain of the paper."""
QUALITY = 42
SCANNED = time.struct_time((2025, 12, 3, 10, 14, 0, 2, 337, 0))


def write_scan(path: Path, title: str, pages: Sequence[Image.Image]) -> None:
    """Write the pages, each skewed, blurred, shaded and grained by its number alone, as grey JPEGs in a PDF."""
    first, *rest = (_scanned(page, Random(number)) for number, page in enumerate(pages, start=1))
    first.save(path, "PDF", resolution=DPI, quality=QUALITY, save_all=True, append_images=rest, title=title,
               author="Scanner 2, Card Operations", creationDate=SCANNED, modDate=SCANNED)  # fmt: skip


def _scanned(page: Image.Image, random: Random) -> Image.Image:
    skewed = page.rotate(random.uniform(-SKEW, SKEW), Image.Resampling.BICUBIC, fillcolor=255)
    soft = skewed.filter(ImageFilter.GaussianBlur(0.5))
    # The lid lets light in at one side; the paper is not quite white.
    dark, light = random.randint(216, 226), random.randint(238, 246)
    shade = Image.linear_gradient("L").rotate(random.choice((0, 90, 270))).resize(page.size)
    paper = shade.point([light - (light - dark) * max(0, 60 - value) // 60 for value in range(256)])
    grain = Image.frombytes("L", page.size, random.randbytes(page.width * page.height))
    lit = ImageChops.multiply(soft, paper)
    return ImageChops.subtract(lit, grain.point([value * GRAIN // 256 for value in range(256)]))
