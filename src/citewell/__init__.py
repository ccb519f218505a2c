"""Citewell: ask your own documents a question and get an answer you can check.

import citewell

index = citewell.Index.create("my-index")
index.add("manuals/")
answer = index.ask("How many days does a customer have to dispute a card payment?")
print(answer.text, answer.citations[0].page)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.errors import CitewellError
    from citewell.index import Index
    from citewell.settings import Settings
    from citewell.types import (
        Answer,
        Chunk,
        Citation,
        Document,
        FileReport,
        Hit,
        IndexReport,
        Listener,
        Principal,
        Progress,
        Rights,
        Sentence,
        Status,
        Turn,
    )

# ONNX Runtime keeps a diary of what it runs and sends it away, unless it is told not to before it is loaded.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"

# Loaded at first use: `import citewell` costs milliseconds, whatever the engines behind it cost.
_HOME = {
    "Index": "index",
    "Settings": "settings",
    "CitewellError": "errors",
    "Answer": "types",
    "Chunk": "types",
    "Citation": "types",
    "Document": "types",
    "FileReport": "types",
    "Hit": "types",
    "IndexReport": "types",
    "Listener": "types",
    "Principal": "types",
    "Progress": "types",
    "Rights": "types",
    "Sentence": "types",
    "Status": "types",
    "Turn": "types",
}

__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "CitewellError",
    "Document",
    "FileReport",
    "Hit",
    "Index",
    "IndexReport",
    "Listener",
    "Principal",
    "Progress",
    "Rights",
    "Sentence",
    "Settings",
    "Status",
    "Turn",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'citewell' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"citewell.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
