"""`migrate`: to another embedder and back, what it prints, and what it refuses."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run, another_writer
from tests.models.onnx_folders import SPECIAL, another_model, masked_lm_in, minilm_in

QUESTION = "How many days to dispute a card payment?"
EVIDENCE = {"document": "manuals/manual-2026.md", "quote": "120 days from the transaction date"}
KEYS = [
    "version", "generation", "previous", "embedder", "dimensions", "carried", "dropped", "embedded", "seconds",
    "warnings", "gate", "settings", "sparse", "sparse_before",
]  # fmt: skip


@pytest.fixture
def folder(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bank's index to write to, as the current folder."""
    shutil.copytree(bank / ".citewell", tmp_path / ".citewell")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def set_dimensions(folder: Path, number: int) -> None:
    (folder / "citewell.toml").write_text(f"[models]\ndimensions = {number}\n")


def write_questions(folder: Path, *questions: str) -> Path:
    path = folder / "testset.jsonl"
    path.write_text("".join(json.dumps({"question": each, "evidence": [EVIDENCE]}) + "\n" for each in questions))
    return path


def test_to_other_settings_and_back(folder: Path, citewell: Run) -> None:
    set_dimensions(folder, 128)
    refused = citewell("search", QUESTION)
    assert refused.code == 3
    assert "citewell migrate --embedder" in refused.err

    there = citewell("migrate")
    assert (there.code, there.err) == (0, "")
    first, kept = there.out.splitlines()
    assert re.fullmatch(
        r"Generation 2, made with all-MiniLM-L6-v2-int8 \(128 dimensions\), is the index now: 4 versions carried over, "
        r"\d+ texts embedded in [\d.]+ s\.",
        first,
    )
    assert kept == "Generation 1 is kept; `citewell migrate --rollback` goes back to it."
    assert "120 days" in citewell("ask", QUESTION).out

    back = citewell("migrate", "--rollback")
    assert (back.code, back.err) == (0, "")
    assert back.out.splitlines()[0].startswith("Generation 1, made with all-MiniLM-L6-v2-int8 (384 dimensions), is the")
    assert "0 versions carried over, 0 texts embedded" in back.out
    assert back.out.splitlines()[1:3] == [
        "Set in citewell.toml, under [models], or the index will not open:",
        "  dimensions = 0",
    ]
    assert citewell("search", QUESTION).code == 3
    set_dimensions(folder, 0)
    assert "120 days" in citewell("ask", QUESTION).out


def test_as_json(folder: Path, citewell: Run) -> None:
    set_dimensions(folder, 128)
    testset = write_questions(folder, QUESTION, "Within how many days can a card payment be disputed?")
    ran = citewell("migrate", "--gate", testset, "--json")
    assert (ran.code, ran.err) == (0, "")
    shape = ran.json
    assert list(shape) == KEYS
    assert (shape["generation"], shape["previous"], shape["dimensions"]) == (2, 1, 128)
    assert (shape["carried"], shape["dropped"], shape["warnings"], shape["settings"]) == (4, 0, [], {})
    assert shape["gate"]["questions"] == 2
    names = [measure.pop("name") for measure in shape["gate"]["measures"]]
    assert names == ["recall@5", "MRR@10"]
    assert shape["gate"]["measures"][0] == {"before": 1.0, "after": 1.0, "difference": 0.0, "low": 0.0, "high": 0.0}

    again = citewell("migrate", "--json").json
    assert (again["generation"], again["previous"], again["embedded"], again["gate"]) == (2, 1, 0, None)
    back = citewell("migrate", "--rollback", "--json").json
    assert (back["generation"], back["previous"], back["settings"]) == (1, 2, {"dimensions": 0})


def test_the_gate_prints_its_figures(folder: Path, citewell: Run) -> None:
    set_dimensions(folder, 200)
    ran = citewell("migrate", "--gate", write_questions(folder, QUESTION))
    assert ran.code == 0
    assert "On 1 question:" in ran.out
    assert "  recall@5 1.000 to 1.000 (+0.000, 95 % interval +0.000 to +0.000)" in ran.out


def test_the_gate_keeps_an_embedder_out_that_finds_less(folder: Path, citewell: Run) -> None:
    """Of one number of each vector nothing is left but its sign, and the keyword leg is off.

    So not more than two of the passages can be first of those with their sign, whatever the question.
    """
    (folder / "citewell.toml").write_text('[models]\ndimensions = 1\n[retrieval]\nlegs = ["dense"]\n')
    quotes = {
        QUESTION: ("manual-2026.md", "120 days from the transaction date"),
        "What does code R-17 mean?": ("manual-2026.md", "suspected fraud"),
        "Where was the umbrella stolen?": ("letter.md", "stolen"),
    }
    lines = [
        {"question": question, "evidence": [{"document": document, "quote": quote}]}
        for question, (document, quote) in quotes.items()
    ]
    testset = folder / "testset.jsonl"
    testset.write_text("".join(json.dumps(line) + "\n" for line in lines * 5))
    ran = citewell("migrate", "--gate", testset, "--json")
    assert ran.code == 3
    assert ran.json["error"]["kind"] == "Refused"
    assert re.search(r"On the 15 questions .* MRR@10 1\.000 to 0\.\d+ \(-0\.\d+", ran.json["error"]["message"])
    assert "without --gate" in ran.json["error"]["remedy"]
    (folder / "citewell.toml").unlink()
    assert "120 days" in citewell("ask", QUESTION).out


def test_an_embedder_by_name(folder: Path, citewell: Run) -> None:
    same = citewell("migrate", "--embedder", "all-MiniLM-L6-v2-int8")
    assert same.code == 0
    assert "made with all-MiniLM-L6-v2-int8 (384 dimensions) already: generation 1." in same.out
    minilm_in(folder / "other", another_model)
    ran = citewell("migrate", "--embedder", "onnx:other")
    assert ran.code == 0
    assert ran.out.splitlines()[1:3] == [
        "Set in citewell.toml, under [models], or the index will not open:",
        '  embedder = "onnx:other"',
    ]
    (folder / "citewell.toml").write_text('[models]\nembedder = "onnx:other"\n')
    assert citewell("search", QUESTION).code == 0


def test_sparse_vectors_are_said_to_come_change_and_go(folder: Path, citewell: Run) -> None:
    words, draws = ("card", "payment", "days"), np.random.default_rng(5)
    table = draws.standard_normal((len(SPECIAL) + len(words), 4)).astype(np.float32)
    for name, decoder in (("one", table.T), ("other", 2 * table.T)):
        masked_lm_in(folder / name, words, table, np.ascontiguousarray(decoder))
    settings = folder / "citewell.toml"

    def moved_to(name: str, *arguments: str) -> tuple[list[str], str]:
        """What `migrate` prints below its first line, and the encoder that `status` names then."""
        settings.write_text(f'[models]\nsparse = "{name}"\n')
        ran = citewell("migrate", *arguments)
        assert (ran.code, ran.err) == (0, "")
        (named,) = re.findall(r"^sparse encoder +(.+)$", citewell("status").out, re.MULTILINE)
        return ran.out.splitlines()[1:], named

    def kept(number: int) -> str:
        return f"Generation {number} is kept; `citewell migrate --rollback` goes back to it."

    came, one = moved_to("onnx:one")
    assert one.startswith("splade:max:256:")
    assert came == [f"It has sparse vectors now, made with {one}.", kept(1)]
    changed, other = moved_to("onnx:other")
    assert changed == [f"Its sparse vectors are made with {other} now; those of before were with {one}.", kept(2)]
    assert moved_to("onnx:other")[0] == [kept(2)]
    went, named = moved_to("none")
    assert (went, named) == (
        [f"It has no sparse vectors any more; those of before were made with {other}.", kept(3)],
        "none",
    )
    back = ["--rollback"]
    assert moved_to("onnx:other", *back)[0] == [f"It has sparse vectors now, made with {other}.", kept(4)]
    assert moved_to("onnx:other", *back)[0] == [
        f"It has no sparse vectors any more; those of before were made with {other}.",
        "Set in citewell.toml, under [models], or the index will not open:",
        '  sparse = "none"',
        kept(3),
    ]
    settings.unlink()
    shape = citewell("migrate", "--json").json
    assert (shape["sparse"], shape["sparse_before"], shape["settings"]) == (None, None, {})
    settings.write_text('[models]\nsparse = "onnx:one"\n')
    shape = citewell("migrate", "--json").json
    assert (shape["sparse"], shape["sparse_before"], shape["settings"]) == (one, None, {})


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--embedder", "gpt-9"], 2, "There is no embedder 'gpt-9'"),
        (["--embedder", "onnx:nowhere"], 2, "nowhere"),
        (["--rollback"], 2, "keeps no generation to go back to"),
        (["--rollback", "--embedder", "x"], 2, "--rollback goes back"),
        (["--rollback", "--gate", "x"], 2, "--rollback goes back"),
        (["--gate", "none.jsonl"], 2, "none.jsonl cannot be read"),
        (["--index", "nowhere"], 2, "There is no index in nowhere"),
    ],
)
def test_what_is_refused_changes_nothing(
    folder: Path, citewell: Run, arguments: list[str], code: int, said: str
) -> None:
    ran = citewell("migrate", *arguments)
    assert ran.code == code
    assert said in ran.err
    assert ran.out == ""
    assert [each.name for each in (folder / ".citewell" / "generations").iterdir()] == ["1"]


def test_a_second_writer_is_named(folder: Path, citewell: Run) -> None:
    set_dimensions(folder, 128)
    with another_writer(folder / ".citewell") as pid:
        ran = citewell("migrate")
    assert ran.code == 3
    assert f"process {pid} on" in ran.err


def test_a_terminal_gets_a_bar(folder: Path) -> None:
    set_dimensions(folder, 128)
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "citewell", "migrate"]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=terminal, env=os.environ | {"TERM": "xterm"}, check=True
    )
    os.close(terminal)
    drawn = ""
    with suppress(OSError):  # which is how a terminal that nobody writes to any more says so
        while data := os.read(screen, 100_000):
            drawn += data.decode()
    os.close(screen)
    assert "documents" in drawn
    assert re.search(r"\d embedded  ", drawn)
    assert b"\x1b" not in done.stdout
