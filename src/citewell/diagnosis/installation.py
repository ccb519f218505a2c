"""Python, the packages, the models that encode and the secrets: what is checked without an index."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import files

import numpy as np

from citewell.credentials import VARIABLE, Credentials
from citewell.diagnosis.findings import Finding, error, warning
from citewell.loading.parsing import check_plugins
from citewell.models.embedder import Embedder
from citewell.models.sparse import SparseEncoder
from citewell.settings import Loading

SENTENCE = "The invoice is due in thirty days."

REINSTALL = "Run `pip install --force-reinstall citewell` in this environment."
LENGTH_TOLERANCE = 1e-3


def versions() -> Iterator[Finding]:
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
        yield warning("; ".join(problems), REINSTALL)
    else:
        python = ".".join(map(str, sys.version_info[:3]))
        yield Finding(f"citewell {metadata.version('citewell')}, Python {python}, {len(pins)} packages as pinned")


def plugins(loading: Loading) -> Iterator[Finding]:
    """The loaders of other packages that the settings name are installed."""
    check_plugins(loading)
    yield Finding(f"loaders of other packages: {', '.join(loading.plugins) or 'none'}")


def secrets() -> Iterator[Finding]:
    """The secrets file can be read, and by nobody else."""
    Credentials.load()
    name = os.environ.get(VARIABLE)
    yield Finding(f"{name}, closed to other users" if name else "no secrets file")


def model_file() -> Iterator[Finding]:
    """The built-in embedder's weights are those that the code expects."""
    from citewell.models.minilm import IDENTITY

    weights = files("citewell.models") / "minilm" / "model.onnx"
    try:
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    except FileNotFoundError:
        yield error("model.onnx is missing", REINSTALL)
        return
    if digest.startswith(IDENTITY.revision):
        yield Finding(f"{IDENTITY.name}, SHA-256 {digest[:16]}")
    else:
        yield error(f"model.onnx has SHA-256 {digest[:16]}, {IDENTITY.revision} expected", REINSTALL)


def embedder(made: Embedder) -> Iterator[Finding]:
    """The embedder runs, and makes vectors of its width and of length 1."""
    vectors = made.embed_passages([SENTENCE, "Zürich"])
    lengths = np.linalg.norm(vectors, axis=1)
    wanted = (2, made.identity.dimensions)
    if vectors.shape != wanted or not np.allclose(lengths, 1, atol=LENGTH_TOLERANCE):
        message = f"vectors have shape {vectors.shape} and lengths {lengths.round(3).tolist()}"
        yield error(message, "Reinstall citewell and onnxruntime; report it if it stays.")
    else:
        yield Finding(f"{made.identity.name} makes unit vectors of {made.identity.dimensions} numbers")


def sparse(made: SparseEncoder) -> Iterator[Finding]:
    """The sparse encoder runs."""
    terms = made.encode_query(SENTENCE).terms
    yield Finding(f"{made.identity} finds {len(terms):,} words in a sentence")
