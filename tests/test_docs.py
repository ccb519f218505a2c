"""The documentation agrees with the code."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from citewell.settings import Settings

ROOT = Path(__file__).parents[1]


def test_every_setting_is_documented_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `\[(\w+\] \w+)` \| ([^|]+) \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE))
    settings = Settings()
    tables = {name: getattr(settings, name) for name in type(settings).model_fields if name != "preset"}
    keys = {f"{name}] {key}": value for name, table in tables.items() for key, value in table}
    assert sorted(rows) == sorted(keys)
    for key, value in keys.items():
        shown = rows[key].strip()
        expected = list(value) if isinstance(value, tuple) else str(value).lower() if isinstance(value, bool) else value
        if isinstance(value, BaseModel):
            expected = f"{{{', '.join(f'{name} = {each}' for name, each in value)}}}"
        assert shown == str(expected).replace("'", '"') or shown == f'"{expected}"', key


def test_links_between_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\bdocs/[\w-]+\.md\b", page.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{page.name} names {target}"


def test_the_readmes_python_runs(tmp_path: Path) -> None:
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    rule = "A customer may dispute a card payment within 120 days of the transaction date."
    (manuals / "policy.md").write_text(f"# Policy\n\n## 4.2 Time limits\n\n{rule}\n", encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    code = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    result = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    link = (manuals / "policy.md").as_uri()
    assert (result.stdout, result.stderr) == (f"{rule} [1]\n1 Policy Policy > 4.2 Time limits  {link}\n", "")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_the_python_of_a_guide_runs(page: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_the_settings_of_a_guide_are_settings(page: Path) -> None:
    """A block of TOML that names tables of ours must load."""
    for block in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        tables = tomllib.loads(block)
        if tables.keys() <= Settings.model_fields.keys():
            Settings.model_validate(tables)
