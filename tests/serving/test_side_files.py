"""What is said of uploads is what the access rules read."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from citewell.loading.access import AccessRules
from citewell.serving import side_files
from citewell.serving.side_files import About

TEXT = st.text(min_size=1, max_size=40)
ABOUT = st.fixed_dictionaries(
    {},
    optional={
        "groups": st.lists(TEXT, max_size=3),
        "title": TEXT,
        "version": TEXT,
        "valid_from": st.dates(),
        "expires": st.dates(),
        "trust": st.sampled_from(["approved", "unreviewed", "untrusted"]),
        "language": st.sampled_from(["de", "pt-BR"]),
        "fields": st.dictionaries(
            st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True),
            st.one_of(TEXT, st.dates(), st.floats(allow_nan=False), st.lists(TEXT, max_size=3)),
            max_size=3,
        ),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ABOUT)
def test_what_is_written_is_read_by_the_rules(tmp_path: Path, said: dict[str, object]) -> None:
    path = tmp_path / "manual.pdf"
    try:
        about = About.model_validate(said)
    except ValidationError:
        return
    says = about.over({})
    side_files.write(path, says)
    read = AccessRules().rules_for(path)
    assert read.groups == (None if about.groups is None else frozenset(about.groups))
    for name in ("title", "version", "valid_from", "expires", "trust", "language"):
        assert getattr(read, name) == getattr(about, name)
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in (read.fields or {}).items()}
    assert fields == (about.fields or {})
    assert About.model_validate(side_files.read(path)).over({}) == says
    assert [file.name for file in tmp_path.iterdir()] == (["manual.pdf.citewell.toml"] if says else [])


def test_a_change_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    side_files.write(path, About(groups=["board"], title="A").over({}))
    says = About.model_validate({"title": None, "version": "2"}).over(side_files.read(path))
    assert says == {"groups": ["board"], "version": "2"}
