"""What of an answer is shown as text only. That nothing is left which a renderer takes for a link is checked with a
real one, markdown-it."""

import pytest
from markdown_it import MarkdownIt

from citewell.security.neutral import neutralised

OURS = ("file:///bank/manual.pdf#page=3",)
PASSAGE = "Forms are at https://bank.example/forms. Ask there."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Fee: 20 [1][2].", "Fee: 20 [1][2]."),
        ("![a](https://e.example/?q=1)", "a (hxxps://e[.]example/?q=1)"),
        ('![a](https://e.example/p "title")', "a (hxxps://e[.]example/p)"),
        ("![](https://e.example/p)", "picture (hxxps://e[.]example/p)"),
        ("[a](https://e.example)", "a (hxxps://e[.]example)"),
        (
            "[![x](https://e.example/y)](https://f.example/z)",
            "x (hxxps://e[.]example/y) (hxxps://f[.]example/z)",
        ),
        ("[a [b] c](https://e.example)", "[a [b] c]\\(hxxps://e[.]example)"),
        ("[a][r]\n\n[r]: https://e.example", "[a][r]\n\n[r]\\: hxxps://e[.]example"),
        ("<https://e.example/a>", "&lt;hxxps://e[.]example/a>"),
        ("[a](javascript:alert(1))", "a (javascript[:]alert(1))"),
        ("[a](JavaScript:x)", "a (JavaScript[:]x)"),
        ("data:text/html;base64,PHA+", "data[:]text/html;base64,PHA+"),
        ("The data: none.", "The data: none."),
        ("<img src=x srcset='//e.example 2x'>", "&lt;img src=x srcset='//e.example 2x'>"),
        ("<p style='background:url(https://e.example/b)'>", "&lt;p style='background:url(hxxps://e[.]example/b)'>"),
        ("</p><!-- c --><?x?>", "&lt;/p>&lt;!-- c -->&lt;?x?>"),
        ("1 < 2 and 3 <4", "1 < 2 and 3 <4"),
        ("https://аpple.example", "hxxps://аpple[.]example"),
        ("ftp://e.example", "ftp[:]//e[.]example"),
        ("www.e.example", "www[.]e[.]example"),
        ("e.example/p?d=1", "e[.]example/p?d=1"),
        ("mailto:a@e.example", "mailto[:]a@e.example"),
        ("Write to a@e.example.", "Write to a@e.example."),
        ("_https://e.example_", "_hxxps://e[.]example_"),
        ("éhttps://e.example", "éhxxps://e[.]example"),
        ("https://e.(x)", "hxxps://e[.]\\(x)"),
        ("and/or, v1.2/3, 24/7", "and/or, v1.2/3, 24/7"),
    ],
)
def test_what_is_not_ours_becomes_text(text: str, shown: str) -> None:
    assert neutralised(text) == shown
    assert neutralised(shown) == shown


def test_our_own_links_stay_and_pictures_do_not() -> None:
    link = f"[p. 3]({OURS[0]})"
    assert neutralised(f"See {link}.", OURS) == f"See {link}."
    assert neutralised(f"!{link}", OURS) == f"p. 3 ({OURS[0]})"
    assert neutralised(f"[<b>]({OURS[0]})", OURS) == f"[&lt;b>]({OURS[0]})"
    assert neutralised(f"[a]({OURS[0]}?q=1)", OURS).startswith("a (file[:]//")


def test_an_address_of_a_cited_passage_stays_as_it_stands_there() -> None:
    assert neutralised("At https://bank.example/forms.", (), [PASSAGE]) == "At https://bank.example/forms."
    assert neutralised("[f](https://bank.example/forms)", (), [PASSAGE]) == "f (https://bank.example/forms)"
    assert "hxxps" in neutralised("At https://bank.example/forms?d=secret", (), [PASSAGE])


@pytest.mark.parametrize(
    "text",
    [
        "[![x](https://e.example/y)](https://f.example/z)",
        "[a\nb](https://e.example 'x')",
        "[a](<https://e.example/b c>)",
        "![a [b](c) d](https://e.example)",
        '[a](https://e.example\n"t")',
        "> [r]: https://e.example\n\n![x][r]",
        "- [r]:\n  <https://e.example>\n\n[r]",
        r"\![a](https://e.example) \\[b](https://e.example)",
        "[a](&#106;avascript:alert(1))",
        f"![[t]({OURS[0]})](https://e.example)",
        f"[x](https://e.example/[t]({OURS[0]}))",
        "[" * 30 + "a" + "](https://e.example)" * 30,
        "www.e.example https://e.example <https://e.example> a@e.example",
        "<a href='https://e.example'>x</a>",
    ],
)
def test_a_real_renderer_finds_nothing_to_fetch_or_follow(text: str) -> None:
    rendered = MarkdownIt("commonmark", {"html": True}).render(neutralised(text, OURS))
    assert "<img" not in rendered
    assert all(OURS[0] in each for each in rendered.split("<a ")[1:])
