from __future__ import annotations

import pytest

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded
from citewell.loading.html import load_html
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces

PAGE = """<!DOCTYPE html><html lang="en-GB"><head><title>Branch
hours</title><style>p{}</style></head><body>
<div id="cookie-banner">We use cookies. <button>Accept</button> <a href="/c">More</a></div>
<header><a href="/">Logo</a></header><nav><ul><li><a href="/">Home</a></li></ul></nav>
<div class="side-menu"><a href="/a">Cards</a> <a href="/b">Loans</a></div>
<h1>Branch hours</h1>
<table><caption>Harbour region</caption><tr><th>Branch</th><th>Mon-Fri</th></tr>
<tr><td>Harbour Street</td><td>9-17</td></tr></table>
Closed on public holidays.<br>Also on 24 December.
<h2>Contact</h2>
<p>Write to <a href="mailto:x">the branch</a>.</p><p style="display:none">hidden text</p>
<ol start="3"><li>Phone</li><li>Post<ul><li>Box 1</li></ul></li></ol>
<pre>a
  b</pre>
<script>track()</script><form action="/s"><label>Search</label><input></form>
<footer>Copyright</footer></body></html>"""


def read(markup: str) -> Parsed:
    return load_html(markup.encode(), "file-name.html", Loading())


def body(inner: str) -> list[tuple[ElementKind, str]]:
    return pieces(read(f"<html><body>{inner}</body></html>"))


def test_a_page_without_main_keeps_all_of_its_content_and_nothing_else() -> None:
    parsed = read(PAGE)
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Branch hours"),
        (ElementKind.CAPTION, "Harbour region"),
        (ElementKind.TABLE, "Branch | Mon-Fri\nHarbour Street | 9-17"),
        (ElementKind.PARAGRAPH, "Closed on public holidays.\nAlso on 24 December."),
        (ElementKind.HEADING, "Contact"),
        (ElementKind.PARAGRAPH, "Write to the branch."),
        (ElementKind.LIST, "3. Phone\n4. Post\n  - Box 1"),
        (ElementKind.CODE, "a\n  b"),
    ]
    assert path_of(parsed, "Phone") == ("Branch hours", "Contact")
    assert (parsed.title, parsed.language) == ("Branch hours", "en-GB")


def test_main_is_taken_where_it_holds_the_text() -> None:
    parsed = read("<body><p>around</p><main><header><h1>T</h1></header><p>a long paragraph of text</p></main></body>")
    assert parsed.text == "T\n\na long paragraph of text"


def test_a_headline_before_the_article_is_kept() -> None:
    parsed = read("<body><h1>T</h1><p>by A</p><article><p>a long paragraph of text</p></article></body>")
    assert parsed.text == "T\n\na long paragraph of text"
    assert path_of(parsed, "long") == ("T",)


def test_a_main_that_holds_little_does_not_hide_the_rest() -> None:
    parsed = read("<body><main><p>x</p></main><div>all that the page is about, outside of main</div></body>")
    assert parsed.text == "x\n\nall that the page is about, outside of main"


@pytest.mark.parametrize(
    "markup",
    [
        "<form><h1>T</h1><p>the page</p></form>",
        "<header><h1>T</h1></header><p>the page</p>",
        "<div class='page menu-open'><h1>T</h1><p>the page</p></div>",
        "<article class='cookie-notice'><h1>T</h1><p>the page</p></article>",
        "<aside><a href='/'>menu</a></aside><h1>T</h1><aside><p>the page</p></aside>",
        "<article><h1>T</h1></article><article>the page</article>",
    ],
)
def test_content_in_unusual_places_is_not_lost(markup: str) -> None:
    assert read(markup).text == "T\n\nthe page"


@pytest.mark.parametrize(
    "markup",
    [
        "<div role='navigation'>no</div>",
        "<div role='dialog'>no</div>",
        "<p hidden>no</p>",
        "<span aria-hidden='true'>no</span>",
        "<noscript>no</noscript>",
        "<template><p>no</p></template>",
        "<div class='gdpr'>no</div>",
        "<ul class='breadcrumb'><li><a href='/'>no</a></li></ul>",
        "<footer>no</footer>",
    ],
)
def test_what_is_no_content_is_left_out(markup: str) -> None:
    assert body(f"<p>before</p>{markup}<p>after</p>") == [
        (ElementKind.PARAGRAPH, "before"),
        (ElementKind.PARAGRAPH, "after"),
    ]


def test_merged_cells_stand_once_and_keep_the_columns() -> None:
    rows = (
        "<tr><th rowspan=2>Card</th><th colspan=2>Fee</th><th>Note</th></tr><tr><th>low</th><th>high</th></tr>"
        "<tr><td>Debit</td><td>1</td><td>2</td><td>n</td></tr>"
    )
    assert body(f"<table>{rows}</table>") == [
        (ElementKind.TABLE, "Card | Fee |  | Note\n | low | high\nDebit | 1 | 2 | n")
    ]


def test_rich_cells_become_one_line() -> None:
    cell = "<p>One.</p><p>Two</p><ul><li>a</li><li>b</li></ul><table><tr><td>c</td><td>d</td></tr></table>e"
    assert body(f"<table><tr><th>H</th><th>I</th></tr><tr><td>{cell}</td><td>x<br>y</td></tr></table>") == [
        (ElementKind.TABLE, "H | I\nOne. Two; a; b; c, d; e | x y")
    ]


def test_a_table_that_places_parts_of_the_page_is_walked_into() -> None:
    inner = "<h2>Fees</h2><table><tr><td>a</td><td>b</td></tr></table>"
    assert body(f"<table><tr><td>left</td><td>{inner}</td></tr></table>") == [
        (ElementKind.PARAGRAPH, "left"),
        (ElementKind.HEADING, "Fees"),
        (ElementKind.TABLE, "a | b"),
    ]


def test_a_table_that_is_never_closed_loses_nothing() -> None:
    rows = "<tr><td>a</td><td>b</td></tr>"
    texts = [text for _, text in body(f"<table>{rows}<table>{rows}<p>stray</p></table><p>after</p>")]
    assert sorted(" ".join(texts).replace("|", " ").split()) == ["a", "a", "after", "b", "b", "stray"]


def test_inline_elements_do_not_break_words_and_blocks_do() -> None:
    assert body("<div>H<sub>2</sub>O <b>is</b>\n water<div>new</div>line</div>") == [
        (ElementKind.PARAGRAPH, "H2O is water"),
        (ElementKind.PARAGRAPH, "new"),
        (ElementKind.PARAGRAPH, "line"),
    ]


@pytest.mark.parametrize("wide", ["99999999999", "-1", "0", "x", "1000"])
def test_absurd_spans_are_bounded(wide: str) -> None:
    ((_, text),) = body(f"<table><tr><td colspan='{wide}'>a</td><td rowspan='{wide}'>b</td></tr></table>")
    assert len(text) < 400


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        ('<meta charset="windows-1251">', "cp1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">', "cp932"),
        ("", "utf-16"),
        ('<meta charset="utf-8">', "utf-8"),
    ],
)
def test_the_encoding_is_the_declared_one(head: str, codec: str) -> None:
    text = "Привет" if codec != "cp932" else "銀行"
    data = f"<html><head>{head}</head><body><p>{text}</p></body></html>".encode(codec)
    assert load_html(data, "a.html", Loading()).text == text


def test_entities_declared_in_the_page_do_not_expand() -> None:
    markup = '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><html><body><p>x &b; y</p></body></html>'
    assert "lollol" not in read(markup).text


def test_deep_nesting_is_walked_without_recursion() -> None:
    depth = 1_500
    assert read("<div>" * depth + "deep" + "</div>" * depth + "<p>after</p>").text == "deep\n\nafter"


def test_nesting_deeper_than_the_parser_goes_is_refused() -> None:
    with pytest.raises(DamagedFile, match="deep"):
        read("<div>" * 50_000 + "lost in silence otherwise")


def test_a_tree_that_would_not_fit_in_memory_is_refused() -> None:
    with pytest.raises(LimitExceeded, match="tags"):
        read("<br>" * 2_000_001)


def test_a_page_without_elements_is_empty() -> None:
    with pytest.raises(EmptyFile):
        read("<!-- nothing -->")


@pytest.mark.parametrize(
    ("markup", "title"),
    [("<h1>A <i>B</i></h1>", "A B"), ("<p>x</p>", "file-name"), ("<title> </title><h1>A</h1>", "A")],
)
def test_titles_fall_back(markup: str, title: str) -> None:
    assert read(markup).title == title


def test_headings_have_their_levels() -> None:
    parsed = read("<h1>A</h1><h3>B</h3><p>x</p><h2>C</h2><p>y</p>")
    assert path_of(parsed, "x") == ("A", "B")
    assert path_of(parsed, "y") == ("A", "C")
    assert of_kind(parsed, ElementKind.HEADING) == ["A", "B", "C"]
