import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.loading.globs import compile_glob


def matches(glob: str, path: str) -> bool:
    return compile_glob(glob).fullmatch(path) is not None


@pytest.mark.parametrize(
    ("glob", "path", "matched"),
    [
        ("*.pdf", "a.pdf", True),
        ("*.pdf", "in/a.pdf", False),
        ("**/*.pdf", "a.pdf", True),
        ("**/*.pdf", "in/deep/a.pdf", True),
        ("in/**", "in/deep/a.pdf", True),
        ("in/**", "in", False),
        ("in", "in/deep/a.pdf", True),
        ("in/", "in/a.pdf", True),
        ("**/secret/**/x", "a/secret/x", True),
        ("**/secret/**/x", "a/secret/b/c/x", True),
        ("**/secret/**/x", "a/public/x", False),
        ("**/a/b/**/c", "a/x/a/b/c", True),
        ("a/**/b/**/c/d", "a/b/c/x/b/c/d", True),
        ("?.txt", "a.txt", True),
        ("?.txt", "/.txt", False),
        ("[ab]*[!c]", "axb", True),
        ("[ab]*[!c]", "axc", False),
        ("[+-9]x", "/x", False),
        ("[+-9]x", "5x", True),
        ("[!a]x", "/x", False),
        ("[*]x", "*x", True),
        ("[*]x", "ax", False),
        ("a*b*c", "abbcc", True),
        ("a*b*c", "acb", False),
        ("*a*b", "aab", True),
    ],
)
def test_what_a_glob_matches(glob: str, path: str, matched: bool) -> None:
    assert matches(glob, path) is matched


NAMES = st.text("ab", max_size=6)


@given(st.lists(st.sampled_from(["*", "?", "a", "b", "[ab]", "[!a]"]), max_size=8).map("".join), NAMES)
def test_atomic_stars_match_what_plain_ones_do(glob: str, name: str) -> None:
    if not glob or "**" in glob:
        return
    signs = {"*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a]": "[^a/]"}
    plain = "".join(signs.get(sign, sign) for sign in re.findall(r"\[[^\]]+\]|.", glob))
    expected = re.fullmatch(plain + ("" if re.search(r"[*?\[]", glob) else "(?:/.+)?"), name) is not None
    assert matches(glob, name) is expected


@given(
    st.lists(st.sampled_from(["**", "a", "b", "*"]), min_size=1, max_size=6),
    st.lists(st.sampled_from("ab"), max_size=7),
)
def test_atomic_folders_match_what_plain_ones_do(segments: list[str], path: list[str]) -> None:
    if any(one == other == "**" for one, other in pairwise(segments)):
        return
    *folders, last = segments
    plain = "".join("(?:[^/]+/)*" if one == "**" else one.replace("*", "[^/]*") + "/" for one in folders)
    ends = {"**": ".+", "*": "[^/]*"}
    plain += ends.get(last, f"{last}(?:/.+)?")
    assert matches("/".join(segments), "/".join(path)) is (re.fullmatch(plain, "/".join(path)) is not None)


@pytest.mark.parametrize("glob", ["*a" * 15 + "c", "**/a/" * 15 + "c"])
@pytest.mark.timeout(30)
def test_no_glob_takes_long(glob: str) -> None:
    """A plain translation needs longer than the universe is old for these."""
    path = "a" * 400 if "/" not in glob else "/".join("a" * 400)
    assert not matches(glob, path)


@pytest.mark.parametrize("glob", ["/a", "a//b", "../a", "a/./b", "a\\b", "a**b", "a[", "[]", "[!]"])
def test_what_is_no_glob(glob: str) -> None:
    with pytest.raises(ValueError, match=r"must be relative|stands for whole|opens no set"):
        compile_glob(glob)
