"""The limits of the settings, each checked before the work that it is there to prevent."""

from __future__ import annotations

from citewell.errors import LimitExceeded
from citewell.settings import Loading

MEGABYTE = 1_000_000
_MOST_TAGS = 2_000_000  # A parsed tag takes up to 400 bytes of memory, however short it is.


def check_file(size: int, limits: Loading) -> None:
    """Refuse a file of `size` bytes over `max_file_mb`."""
    _check(size, "bytes", int(limits.max_file_mb * MEGABYTE), "max_file_mb")


def check_text(size: int, limits: Loading) -> None:
    """Refuse text, or markup that has to be parsed as a whole, of `size` bytes over `max_text_mb`."""
    _check(size, "bytes of text", int(limits.max_text_mb * MEGABYTE), "max_text_mb")


def check_tags(count: int) -> None:
    """Refuse markup whose tree would not fit in memory, though its text does."""
    if count > _MOST_TAGS:
        raise LimitExceeded(
            f"It has {count:,} tags; the limit is {_MOST_TAGS:,}.", remedy="Split the file into smaller ones."
        )


def check_unpacked(unpacked: int, packed: int, limits: Loading) -> None:
    """Refuse what unpacks from `packed` to `unpacked` bytes beyond `max_inflation`, or beyond `max_file_mb` in all."""
    _check(unpacked, f"bytes unpacked from {packed:,}", int(packed * limits.max_inflation), "max_inflation")
    _check(unpacked, "bytes unpacked", int(limits.max_file_mb * MEGABYTE), "max_file_mb")


def check_pages(count: int, limits: Loading) -> None:
    """Refuse a document of `count` pages over `max_pages`."""
    _check(count, "pages", limits.max_pages, "max_pages")


def check_inside(count: int, limits: Loading) -> None:
    """Refuse a container of `count` files over `max_inside`."""
    _check(count, "files in it", limits.max_inside, "max_inside")


def _check(found: int, unit: str, allowed: int, key: str) -> None:
    if found > allowed:
        raise LimitExceeded(
            f"It has {found:,} {unit}; the limit is {allowed:,}.",
            remedy=f"Raise {key} in [loading] if the file is to be trusted.",
        )
