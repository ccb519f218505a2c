"""What the libraries raise for a model's folder, told apart: a file that is not there, and a network that is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import SettingsError
from citewell.models.onnx_network import MODEL, TOKENIZER, TokenNetwork


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


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The folder of a network of tokens, as errors speak of it: what `model` it holds, and the setting that says how
    many tokens are read."""

    model: str
    path: Path
    setting: str

    def width(self, network: TokenNetwork) -> int:
        """How many numbers the network gives for a token. What is wrong with its files is said here, and what kind of
        wrong it is.

        Raises:
            SettingsError: in place of what the libraries raise.
        """
        with self._explained("cannot be loaded", f"Export {MODEL} again."):
            _ = network.session
        with self.explained():
            return network.width()

    def explained(self) -> AbstractContextManager[None]:
        """Say in our words what the libraries raise where the network is run.

        Raises:
            SettingsError: in place of what they raise.
        """
        remedy = f"Lower {self.setting} to what the model reads, and check that both files are of one model."
        return self._explained("does not take these tokens", remedy)

    @contextmanager
    def _explained(self, fails: str, remedy: str) -> Iterator[None]:
        """Of a network that the libraries do not run is said how it `fails`, with this `remedy`."""
        try:
            yield
        except unreadable():
            what = absent(self.path, (MODEL, TOKENIZER))
            raise self._wrong(what, "Check the path, and the permissions of the files in it.") from None
        except broken() as error:
            raise self._wrong(f"has a network that {fails}: {reason(error)}", remedy) from None
        except ValueError as error:
            whole = f"Check that {MODEL} and {TOKENIZER} are whole and of one model."
            raise self._wrong(f"makes no vectors: {error}", whole) from None

    def _wrong(self, what: str, remedy: str) -> SettingsError:
        return SettingsError(f"The {self.model}'s folder {self.path} {what}.", remedy=remedy)
