"""The checks of `citewell doctor`, as data: each looks at one thing and says what it found and what to do."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from citewell.cli.options import load_settings
from citewell.errors import CitewellError, IndexLocked, IndexNotFound, PermissionRefused

# A run rewrites the tables beside the old ones before it lets go of these, and Lance wants some room in any case.
ROOM_FACTOR = 2
LEAST_FREE_BYTES = 200_000_000
REINSTALL = "Run `pip install --force-reinstall citewell` in this environment."


class Severity(StrEnum):
    """How bad a finding is. Only an error makes `citewell doctor` fail."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `remedy` is empty where all is well."""

    message: str
    severity: Severity = Severity.OK
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A finding with the name of its check."""

    name: str
    severity: Severity
    message: str
    remedy: str


def examine(folder: Path, settings_file: Path | None) -> Iterator[Check]:
    """Run every check, in the order in which one rests on the other."""
    yield _run("versions", versions)
    yield _run("settings", lambda: settings(settings_file))
    yield _run("model", model_file)
    yield _run("embedder", embedder)
    there = _run("index", lambda: index(folder))
    yield there
    if there.severity is not Severity.OK:
        return
    yield _run("tables", lambda: tables(folder, settings_file))
    yield _run("fingerprint", lambda: fingerprint(folder))
    yield _run("analyser", lambda: analyser(folder))
    yield _run("writing", lambda: writing(folder))
    yield _run("disk", lambda: disk(folder))


def versions() -> Finding:
    """Python and the packages are those that this version of citewell was tested with."""
    wanted = metadata.metadata("citewell")["Requires-Python"]
    least = tuple(int(number) for number in re.findall(r"\d+", wanted))
    problems = [] if sys.version_info >= least else [f"Python {sys.version_info.major}.{sys.version_info.minor}"]
    pins = [line.split("==") for line in metadata.requires("citewell") or () if "==" in line and ";" not in line]
    for name, pinned in pins:
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            problems.append(f"{name} missing, {pinned} wanted")
            continue
        if found != pinned:
            problems.append(f"{name} {found}, {pinned} wanted")
    if problems:
        return Finding("; ".join(problems), Severity.WARNING, REINSTALL)
    python = ".".join(map(str, sys.version_info[:3]))
    return Finding(f"citewell {metadata.version('citewell')}, Python {python}, {len(pins)} packages as pinned")


def settings(path: Path | None) -> Finding:
    """The settings file and the environment are readable and allowed."""
    loaded = load_settings(path)
    return Finding(f"preset {loaded.preset}, language model {loaded.models.llm}")


def model_file() -> Finding:
    """The default embedder's weights are those that the code expects."""
    from importlib.resources import files

    from citewell.models.minilm import IDENTITY

    weights = files("citewell.models") / "minilm" / "model.onnx"
    try:
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    except FileNotFoundError:
        return Finding("model.onnx is missing", Severity.ERROR, REINSTALL)
    if not digest.startswith(IDENTITY.revision):
        message = f"model.onnx has SHA-256 {digest[:16]}, {IDENTITY.revision} expected"
        return Finding(message, Severity.ERROR, REINSTALL)
    return Finding(f"{IDENTITY.name}, SHA-256 {digest[:16]}")


def embedder() -> Finding:
    """The embedder runs, and makes vectors of its width and of length 1."""
    import numpy as np

    from citewell.models.minilm import IDENTITY, MiniLM

    vectors = MiniLM().embed_passages(["The invoice is due in thirty days.", "Zürich"])
    lengths = np.linalg.norm(vectors, axis=1)
    if vectors.shape != (2, IDENTITY.dimensions) or not np.allclose(lengths, 1, atol=1e-3):
        message = f"vectors have shape {vectors.shape} and lengths {lengths.round(3).tolist()}"
        return Finding(message, Severity.ERROR, "Reinstall citewell and onnxruntime; report it if it stays.")
    return Finding(f"unit vectors of {IDENTITY.dimensions} numbers")


def index(folder: Path) -> Finding:
    """There is an index, of a format that this version reads."""
    from citewell.stores import manifest

    try:
        found = manifest.load(folder)
    except IndexNotFound as error:  # nothing wrong with the installation
        return Finding(error.message, Severity.WARNING, error.remedy)
    return Finding(f"format {found.format}, generation {found.generation}, made {found.created}")


def tables(folder: Path, settings_file: Path | None) -> Finding:
    """The tables open, and hold as much as the manifest says."""
    from citewell.index import Index
    from citewell.stores import manifest

    recorded = manifest.load(folder)
    with Index.open(folder, settings=load_settings(settings_file)) as opened:
        found = opened.status()
    wanted = recorded.counts
    if (found.documents, found.chunks, found.entries) != (wanted.documents, wanted.chunks, wanted.entries):
        message = (
            f"{found.documents} documents, {found.chunks} chunks, {found.entries} entries, but the manifest says "
            f"{wanted.documents}, {wanted.chunks}, {wanted.entries}"
        )
        return Finding(message, Severity.ERROR, "Index the documents again into a new folder.")
    if not recorded.settled:
        message = "the last run was cut short, or one is under way; keyword scores are a little off"
        return Finding(message, Severity.WARNING, "Run `citewell index` on the same paths again.")
    return Finding(f"{found.documents:,} documents, {found.chunks:,} chunks, {found.entries:,} entries")


def fingerprint(folder: Path) -> Finding:
    """The embedder makes the vectors that it made when the index was built."""
    from citewell.models.fingerprint import require_same_space
    from citewell.models.minilm import MiniLM
    from citewell.stores import manifest

    recorded = manifest.load(folder)
    require_same_space(MiniLM(), recorded.canaries, recorded.embedder)
    return Finding(f"made with {recorded.embedder.name}, and its vectors are the same here")


def analyser(folder: Path) -> Finding:
    """The keyword leg cuts questions as it cut the passages."""
    from citewell.retrieval.analyser import ANALYSER_VERSION
    from citewell.stores import manifest

    recorded = manifest.load(folder).analyser
    if recorded != ANALYSER_VERSION:
        message = f"passages were cut into words by version {recorded}, questions are by version {ANALYSER_VERSION}"
        return Finding(message, Severity.WARNING, "Index the documents again into a new folder.")
    return Finding(f"version {recorded}")


def writing(folder: Path) -> Finding:
    """The index can be written to, or who is writing just now."""
    from citewell.stores.lock import WriterLock

    try:
        with WriterLock(folder):
            return Finding("nobody is writing, and this user may")
    except IndexLocked as error:
        return Finding(error.message)
    except PermissionRefused as error:  # a reader's index may well be read-only
        return Finding(error.message, Severity.WARNING, error.remedy)


def disk(folder: Path) -> Finding:
    """There is room for the next run."""
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder).free
    message = f"{free / 1e9:,.1f} GB free; the index takes {size / 1e6:,.1f} MB"
    if free < max(ROOM_FACTOR * size, LEAST_FREE_BYTES):
        return Finding(message, Severity.WARNING, "Make room on the disk, or move the index.")
    return Finding(message)


def _run(name: str, check: Callable[[], Finding]) -> Check:
    try:
        finding = check()
    except CitewellError as error:
        finding = Finding(error.message, Severity.ERROR, error.remedy)
    except Exception as error:  # noqa: BLE001 - a diagnosis goes on after any failure, and reports it
        finding = Finding(f"{type(error).__name__}: {error}", Severity.ERROR, "Report this with the whole output.")
    return Check(name, finding.severity, finding.message, finding.remedy)
