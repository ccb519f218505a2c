from __future__ import annotations

import pytest

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded
from citewell.loading.html.document import load_html
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import BETWEEN_CELLS, ElementKind
from tests.loading.checks import of_kind, path_of, pieces
from tests.loading.counted import calls

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
        "<label aria-hidden='true'>no</label>",
        "<a class='headerlink' href='#x'>no</a>",
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


def tables(markup: str) -> list[tuple[int, list[list[str]]]]:
    """Header rows and cells of each table."""
    parsed = read(f"<html><body>{markup}</body></html>")
    found = [one for one in parsed.elements if one.kind is ElementKind.TABLE]
    return [
        (one.header_rows, [row.split(BETWEEN_CELLS) for row in parsed.text[one.start : one.end].split("\n")])
        for one in found
    ]


def test_merged_cells_name_each_column_and_stand_in_each_row() -> None:
    rows = (
        "<tr><th rowspan=2>Card</th><th colspan=2>Fee</th><th>Note</th></tr><tr><th>low</th><th>high</th></tr>"
        "<tr><td rowspan=2>Debit</td><td>1</td><td>2</td><td rowspan=2>n</td></tr><tr><td colspan=2>3</td></tr>"
    )
    assert tables(f"<table>{rows}</table>") == [
        (
            2,
            [
                ["Card", "Fee", "Fee", "Note"],
                ["", "low", "high"],
                ["Debit", "1", "2", "n"],
                ["Debit", "3", "", "n"],
            ],
        )
    ]


@pytest.mark.parametrize(
    ("rows", "header_rows"),
    [
        ("<thead><tr><td>A<td>B</thead><tr><td>1<td>2", 1),
        ("<thead><tr><td>A<td>B<tr><td>C<td>D</thead><tbody><tr><th>1<th>2", 2),
        ("<thead><tr><td><td></td></tr><tr><td>A<td>B</thead><tbody><tr><td>1<td>2", 1),
        ("<tr><th>A<th>B<tr><th>1<td>2", 1),
        ("<tr><th>A<th>B<tr><th>1<th>2", 0),
        ("<tr><td>A<td>B<tr><td>1<td>2", 0),
        ("<tr><th colspan=2>Title<tr><th>A<td>1", 0),
        ("<tr><th colspan=2>Title<tr><th>A<th>B<tr><td>1<td>2", 2),
    ],
)
def test_header_rows_are_those_that_name_columns(rows: str, header_rows: int) -> None:
    ((found, _),) = tables(f"<table>{rows}</table>")
    assert found == header_rows


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


def test_merged_cells_grow_with_the_cells_that_there_are() -> None:
    def size(cells: int) -> int:
        first = f"<td rowspan=9999 colspan=50>{'a' * 50}" * cells
        return len(read(f"<table><tr>{first}</tr>{'<tr><td>b<td>c' * cells}</table>").text)

    small, large = size(200), size(800)
    assert large < 5 * small
    assert large < 800 * 50 * 10


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("<ul><li>a", "<pre>x</pre>", "</ul>"),
        ("<ul><li>a", "x", "</ul>"),
        ("<table><tr><td>x<td>", "<h2>x</h2>", "</table>"),
        ("<table><tr><td>x<td>", "x", "</table>"),
        ("<div style='color:#fff'>a", "x", "</div>"),
        ("<div hidden>a", "x", "</div>"),
    ],
)
def test_depth_takes_no_more_than_its_share(opening: str, inner: str, closing: str) -> None:
    depth = 90
    (_, small), (_, large) = (calls(read, opening * deep + inner + closing * deep) for deep in (depth, 3 * depth))
    assert large < 3.3 * small


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


def test_control_signs_are_no_reason_to_fail() -> None:
    assert read("<body><p>a</p><nav>no</nav>b\x01<script>no</script>c\x02</body>").text.split() == ["a", "b\x01c\x02"]


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


def test_elements_carry_the_addresses_that_they_point_at() -> None:
    parsed = read(
        "<body><h2><a href='https://a.example/x'>A</a></h2><p>see <a href=' ../fees.html '>fees</a>, "
        "<a href='mailto:x@a.example'>mail</a>, <a href='../fees.html'>again</a>, <a href='#top'>top</a>, "
        "<a href='javascript:go()'>go</a>, <a href='data:text/html,x'>data</a></p>"
        "<ul><li><a href='/one'>one</a></ul><table><tr><td><a href='/two'>two</a><td>2</table></body>"
    )
    assert [element.links for element in parsed.elements] == [
        ("https://a.example/x",),
        ("../fees.html", "mailto:x@a.example"),
        ("/one",),
        ("/two",),
    ]


def test_code_keeps_its_white_space_and_its_language() -> None:
    parsed = read(
        "<table><tr><td class='linenos'><pre>1\n2</pre><td><pre><code class='hljs language-python'>def f():\n"
        "    <b>return</b>  1\n</code></pre></table><pre>  a\n\tb</pre>"
    )
    assert pieces(parsed) == [
        (ElementKind.CODE, "def f():\n    return  1"),
        (ElementKind.CODE, "  a\n\tb"),
    ]
    assert [element.preamble for element in parsed.elements] == ["python", ""]


def test_a_formula_is_read_once() -> None:
    shown = "<img class='mwe-math-fallback-image' alt='E = mc^2'>"
    katex = "<span><math><mi>x</mi></math></span><span class='katex-html' aria-hidden='true'>x</span>"
    assert read(f"<p>Thus <span style='display: none'><math><mi>E</mi></math></span>{shown} and {katex}.</p>").text == (
        "Thus E = mc^2 and x."
    )


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<html lang=en><body><main lang='de-CH'>x</main>", "de-CH"),
        ("<html lang=en><body lang=fr><main>x</main>", "fr"),
        ("<html xml:lang=es><body>x", "es"),
        ("<html lang='not a language'><meta http-equiv='Content-Language' content='nl'><body>x", "nl"),
        ("<html><body>x", ""),
    ],
)
def test_the_language_is_that_of_the_content(markup: str, language: str) -> None:
    assert read(markup).language == language


def test_metadata_come_from_the_meta_tags() -> None:
    metas = (
        "<meta name=author content='Ann  Lee'><meta property='article:author' content='https://a.example/bob'>"
        "<meta name='DC.Creator' content='Bob'><meta property='article:published_time' content='2025-03-04T09:00:00Z'>"
        "<meta name=date content='2001-01-01'><meta itemprop=dateModified content='2025-04-05'>"
        "<meta name='last-modified' content='yesterday'>"
    )
    assert read(f"<html><head>{metas}</head><body>x</body></html>").metadata == {
        "author": "Ann Lee, Bob",
        "created": "2025-03-04",
        "modified": "2025-04-05",
    }
    assert read("<body>x</body>").metadata == {}


@pytest.mark.parametrize(
    ("markup", "is_cut"),
    [
        (PAGE, False),
        *((PAGE[: PAGE.index(place)], True) for place in ("ours</ti", "<a href", "rack()", "  b</pre", "Box 1")),
        ("<html><body><p>Text without the end tags that may be left out<p>here", False),
        ("<html><body><div><p>Text", True),
        ("<html><body><div>Text</div><!-- more", True),
        ("<p>A piece of a page", False),
        ("<p>A piece of a page <a hr", True),
        ("<p>For all a <", False),
        ("<html><body><p>Text <script>if (a<b) x = '<!--'</script></body></html>\n<!-- saved", False),
        ("<html><body><div/><span>Text</span>", False),
    ],
)
def test_a_page_that_was_cut_off_says_so(markup: str, is_cut: bool) -> None:
    assert read(markup).lost == (("it ends before its elements do, and may be cut short",) if is_cut else ())
