"""The settings name the embedder; nothing is loaded or asked by that."""

import subprocess
import sys
from pathlib import Path

import pytest

from citewell.errors import SettingsError
from citewell.models import configured
from citewell.models.minilm import IDENTITY
from citewell.settings import Models
from tests.models.onnx_folders import minilm_in


def test_the_built_in_one() -> None:
    assert configured.embedder(Models()).identity == IDENTITY


def test_a_folder_with_all_its_settings(tmp_path: Path) -> None:
    folder = minilm_in(tmp_path / "minilm")
    named = Models(
        embedder=f"onnx:{folder}",
        pooling="cls",
        query_prefix="query: ",
        passage_prefix="passage: ",
        embedder_max_tokens=128,
        dimensions=64,
        threads=1,
    )
    embedder = configured.embedder(named)
    identity = embedder.identity
    assert (identity.name, identity.pooling, identity.dimensions) == (f"onnx:{folder}", "cls", 64)
    assert (identity.query_prefix, identity.passage_prefix, identity.max_tokens) == ("query: ", "passage: ", 126)
    assert embedder.embed_queries(["one"]).shape == (1, 64)


def test_an_endpoint() -> None:
    named = Models(embedder="openai:org/m", embedder_url="http://127.0.0.1:1/v1", query_prefix="query: ")
    configured.embedder(named)
    with pytest.raises(SettingsError, match="user or password"):
        configured.embedder(Models(embedder="openai:m", embedder_url="http://me:pw@127.0.0.1/v1"))


def test_the_built_in_one_takes_no_prefix() -> None:
    with pytest.raises(SettingsError, match=r"takes no prefixes.*models\.query_prefix"):
        configured.embedder(Models(query_prefix="query: "))


def test_naming_one_loads_nothing() -> None:
    script = (
        "import sys; from citewell.models import configured; from citewell.settings import Models\n"
        "for name in ('all-MiniLM-L6-v2-int8', 'onnx:absent', 'openai:m'): configured.embedder(Models(embedder=name))\n"
        "print(sorted({'onnxruntime', 'tokenizers', 'httpx2', 'openai'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
