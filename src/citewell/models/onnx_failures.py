"""What the libraries raise for a model's folder, told apart: a file that is not there, and a network that is none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def unreadable() -> tuple[type[Exception], ...]:
    """Raised for files that are not there or may not be read."""
    from onnxruntime.capi import onnxruntime_pybind11_state as kinds

    return OSError, kinds.NoSuchFile


def broken() -> tuple[type[Exception], ...]:
    """Raised by onnxruntime for a network that it cannot load, or that does not take what it is given."""
    from onnxruntime.capi import onnxruntime_pybind11_state as kinds

    loading = (kinds.Fail, kinds.InvalidArgument, kinds.InvalidGraph, kinds.InvalidProtobuf, kinds.NotImplemented)
    return *loading, kinds.RuntimeException


def absent(folder: Path, names: Sequence[str]) -> str:
    """Which of the files a folder lacks, as the end of a sentence about it."""
    missing = [name for name in names if not (folder / name).is_file()]
    return f"has no {' and no '.join(missing)}" if missing else "cannot be read"


def reason(error: Exception) -> str:
    """What onnxruntime says, without the place in its own source; the first line of what another library says."""
    return str(error).rpartition("Status Message: ")[2].partition("\n")[0][:200]
