"""The documentation agrees with the code."""

import re
from pathlib import Path

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
        expected = list(value) if isinstance(value, tuple) else value
        assert shown == str(expected).replace("'", '"') or shown == f'"{expected}"', key


def test_links_between_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\bdocs/[\w-]+\.md\b", page.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{page.name} names {target}"
