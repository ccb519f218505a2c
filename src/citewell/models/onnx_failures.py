"""What the libraries raise for a model's folder, told apart: a file that is not there, and a network that is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from citewell.errors import SettingsError
from citewell.models.onnx_network import MODEL, TOKENIZER


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


@contextmanager
def explained(model: str, folder: Path, fails: str, remedy: str) -> Iterator[None]:
    """Say in our words what the libraries raise for the folder of a `model`. Of a network that they do not run is said
    how it `fails`, with this `remedy`.

    Raises:
        SettingsError: in place of what they raise.
    """

    def wrong(what: str, remedy: str) -> SettingsError:
        return SettingsError(f"The {model}'s folder {folder} {what}.", remedy=remedy)

    try:
        yield
    except unreadable():
        what = absent(folder, (MODEL, TOKENIZER))
        raise wrong(what, "Check the path, and the permissions of the files in it.") from None
    except broken() as error:
        raise wrong(f"has a network that {fails}: {reason(error)}", remedy) from None
    except ValueError as error:
        whole = f"Check that {MODEL} and {TOKENIZER} are whole and of one model."
        raise wrong(f"makes no vectors: {error}", whole) from None
