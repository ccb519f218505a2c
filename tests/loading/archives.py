"""Zip archives changed by hand, for what the libraries that make them do not write."""

from __future__ import annotations

import io
import zipfile


def edited(data: bytes, part: str, old: str, new: str) -> bytes:
    """The archive with `old`, which must be there, replaced in one part."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            content = before.read(name)
            if name == part:
                assert old.encode() in content
                content = content.replace(old.encode(), new.encode())
            after.writestr(name, content)
    return target.getvalue()
