"""The settings file: closed, bounded, overridden by the environment, and every complaint names its key."""

from pathlib import Path

import pytest

from citewell.errors import SettingsError
from citewell.settings import Settings


def write(folder: Path, text: str) -> Path:
    path = folder / "citewell.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_optional(tmp_path: Path) -> None:
    assert Settings.load(write(tmp_path, "")) == Settings()


def test_file_then_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "[retrieval]\nkeep = 7\nrrf_k = 10\n")
    monkeypatch.setenv("CITEWELL_RETRIEVAL__KEEP", "9")
    loaded = Settings.load(path)
    assert (loaded.retrieval.keep, loaded.retrieval.rrf_k) == (9, 10)


def test_a_preset_yields_to_a_given_key(tmp_path: Path) -> None:
    assert Settings.load(write(tmp_path, 'preset = "fast"')).retrieval.candidates == 20
    explicit = write(tmp_path, 'preset = "fast"\n[retrieval]\ncandidates = 33')
    assert Settings.load(explicit).retrieval.candidates == 33


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[retrieval]\nkep = 3", r"retrieval\.kep: unknown key; is keep meant\?"),
        ("[retreival]\nkeep = 3", r"retreival: unknown key; is retrieval meant\?"),
        ("[retrieval]\ncolour = 3", r"retrieval\.colour: unknown key\."),
        ("[retrieval.weights]\ndens = 3", r"retrieval\.weights\.dens: unknown key; is dense meant\?"),
        ("[security]\nas_groups = 1", r"security\.as_groups must be a list"),
        ("[retrieval]\nkeep = 0", r"retrieval\.keep must be 1 or more"),
        ('[retrieval]\nkeep = "three"', r"retrieval\.keep must be a whole number"),
        ("[retrieval]\nlegs = []", r"retrieval\.legs must not be empty"),
        ('[retrieval]\nfloor = "high"', r"retrieval\.floor must be 'calibrated' or 'off', or must be a number"),
        ("[retrieval]\nfloor = nan", "retrieval.floor"),
        ("[retrieval]\nfloor = 2", "retrieval.floor"),
        ("[chunking]\nsize = 20\noverlap = 11", "overlap 11 is more than half of size 20"),
        ('[models]\nllm = "gpt"', r'models\.llm is written as "none", "openai:MODEL", "anthropic:MODEL" or'),
        ('[models]\nllm_url = "localhost"', r"models\.llm_url is written as an address"),
        ('preset = "best"', "preset"),
        ("retrieval = 3", "retrieval"),
        ("keep = ", "not valid TOML"),
        ("a = 1\nb == 2", "line 2"),
    ],
)
def test_a_wrong_key_or_value_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SettingsError, match=complaint) as caught:
        Settings.load(path)
    assert str(path) in caught.value.message
    assert caught.value.remedy


def test_of_many_unknown_keys_and_of_a_long_one_the_beginning_is_told(tmp_path: Path) -> None:
    keys = "".join(f"k{number}{'x' * 9_000} = 1\n" for number in range(200))
    with pytest.raises(SettingsError) as caught:
        Settings.load(write(tmp_path, f"[retrieval]\n{keys}"))
    assert caught.value.message.count("unknown key") == 5
    assert len(caught.value.message) < 700


def test_an_unknown_key_in_the_environment_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_RETRIEVAL__KEP", "9")
    with pytest.raises(SettingsError, match=r"retrieval\.kep: unknown key"):
        Settings.load()


def test_an_unknown_table_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_RETREIVAL__KEEP", "9")
    with pytest.raises(SettingsError, match=r"CITEWELL_RETREIVAL__KEEP, and there is no table \[retreival\]"):
        Settings.load()


def test_the_index_path_in_the_environment_is_not_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_INDEX", "somewhere")
    assert Settings.load().preset == "balanced"


def test_a_missing_or_binary_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no file"):
        Settings.load(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not valid TOML"):
        Settings.load(binary)
