"""Asking on the page: the answer, its footnotes, the document beside it, and that there is no answer."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.serving.page.conftest import QUESTION, QUOTE, Opened, ask
from tests.serving.served import Served


def marked(page: Page) -> str:
    """The text that is marked in the open document."""
    page.locator("#reader mark").first.wait_for()
    return " ".join(" ".join(page.locator("#reader mark").all_inner_texts()).split())


def test_a_footnote_opens_the_pdf_at_the_sentence(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    ask(page, QUESTION)
    expect(page.locator(".answer-text")).to_have_text(f"{QUOTE}1")
    expect(page.locator(".note-quote")).to_have_text(QUOTE)
    page.locator(".marker").click()
    assert marked(page) == QUOTE
    expect(page.get_by_label("Page in the file")).to_have_value("2")
    expect(page.locator("#said")).to_contain_text("The sentence is marked.")
    expect(page.locator("#reader-title")).to_be_focused()
    box, desk = page.locator("#reader mark").first.bounding_box(), page.locator(".desk").bounding_box()
    assert box is not None
    assert desk is not None
    assert desk["y"] <= box["y"] <= desk["y"] + desk["height"]
    page.get_by_label("Page after").click()
    expect(page.get_by_label("Page in the file")).to_have_value("3")
    expect(page.locator("#reader mark")).to_have_count(0)
    page.keyboard.press("[")
    assert marked(page) == QUOTE
    page.get_by_role("button", name="As text").click()
    expect(page.locator(".text mark")).to_have_text(QUOTE)


def test_a_document_of_an_earlier_answer_says_so_beside_the_next(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    ask(page, QUESTION)
    page.locator(".marker").click()
    assert marked(page) == QUOTE
    expect(page.locator(".earlier-answer")).to_have_count(0)
    ask(page, "How is a sourdough starter fed?")
    expect(page.locator(".turn").last).to_contain_text("I don’t know.")
    expect(page.locator("#reader .earlier-answer")).to_have_text("Opened from an earlier answer.")
    ask(page, "Which glacier feeds the longest river of Patagonia?")
    expect(page.locator("#reader .earlier-answer")).to_have_count(1)
    page.locator(".marker").first.click()  # opened once more, on purpose
    assert marked(page) == QUOTE
    expect(page.locator(".earlier-answer")).to_have_count(0)
    page.locator("#new").click()
    expect(page.locator("#reader")).to_be_hidden()
    expect(page.locator("#question")).to_be_focused()


def test_a_document_of_the_shelf_is_of_no_answer(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    page.locator(".shelf .book, #shelf .book").first.click()
    page.locator("#reader-title").wait_for()
    ask(page, "How is a sourdough starter fed?")
    expect(page.locator("#reader")).to_be_visible()
    expect(page.locator(".earlier-answer")).to_have_count(0)


def test_a_footnote_of_the_web_opens_its_address_and_nothing_here(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    answer = local.client().post("/v1/ask", json={"question": QUESTION}).json()
    place = {"document": "web:0123456789abcdef", "source": "https://www.example.org/a", "page": "", "section": ""}
    answer["citations"][0] |= {**place, "title": "Disputes (web: www.example.org)", "link": "https://www.example.org/a"}
    answer["citations"].append({**answer["citations"][0], "n": 2, "source": "javascript:window.pwned = 1"})
    stream = f"event: answer\ndata: {json.dumps(answer)}\n\n"
    page.route("**/v1/ask", lambda route: route.fulfill(body=stream, content_type="text/event-stream"))
    page.context.route("https://www.example.org/**", lambda route: route.fulfill(body="the page"))
    ask(page, QUESTION)
    expect(page.locator(".note-title").first).to_have_text("Disputes (web: www.example.org)")
    with page.expect_popup() as popup:
        page.locator("[data-note='1']").click()
    expect(popup.value.locator("body")).to_have_text("the page")
    assert popup.value.evaluate("window.opener") is None
    page.locator("[data-note='2']").click()
    expect(page.locator("#reader")).to_be_hidden()
    assert len(page.context.pages) == 2
    assert page.evaluate("window.pwned") is None


def test_where_the_words_are_not_on_the_page_their_place_is_marked(local: Served, opened: Opened) -> None:
    """As on a scanned page, whose text is OCR's."""
    page = opened(local.url)
    answer = local.client().post("/v1/ask", json={"question": QUESTION}).json()
    answer["citations"][0]["quote"] = "What OCR has read is not to be found."
    stream = f"event: answer\ndata: {json.dumps(answer)}\n\n"
    page.route("**/v1/ask", lambda route: route.fulfill(body=stream, content_type="text/event-stream"))
    ask(page, QUESTION)
    page.locator(".marker").click()
    box = page.locator("#reader .box")
    box.wait_for()  # the first PDF of a browser takes a while
    expect(box).to_have_count(1)
    expect(page.locator(".reader-says")).to_contain_text("their place is marked")
    inside, words = (
        box.bounding_box(),
        page.locator(".textLayer span", has_text="A customer may dispute").bounding_box(),
    )
    assert inside is not None
    assert words is not None
    assert inside["y"] - 2 <= words["y"] <= inside["y"] + inside["height"]


def test_the_passages_show_how_each_leg_ranked_them(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    ask(page, QUESTION)
    page.get_by_text("Passages, and how each leg ranked them").click()
    expect(page.locator(".passages thead")).to_contain_text("Meaning")
    first = page.locator(".passages tbody tr").first
    expect(first.locator(".number")).to_have_text("1")
    expect(first.locator(".first").first).to_have_text("1")
    first.locator(".passage").click()
    assert QUOTE in marked(page)


def test_a_follow_up_and_the_conversation_later(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    ask(page, QUESTION)
    ask(page, "When is the Northmoor branch open on weekdays?")
    expect(page.locator(".turn").last.locator(".answer-text")).to_contain_text("09:00 to 16:30")
    page.locator(".turn").last.get_by_role("button", name="Yes").click()
    expect(page.locator(".turn").last.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "true")
    page.reload()
    page.locator("#earlier .book").first.click()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn").first.locator(".answer-text")).to_have_text(f"{QUOTE}1")
    expect(page.locator(".turn").last.get_by_role("button", name="Yes")).to_have_attribute("aria-pressed", "true")
    page.locator(".turn").last.locator(".marker").click()
    assert "Northmoor" in marked(page)


def test_no_answer_is_an_answer_and_says_what_was_searched(local: Served, opened: Opened) -> None:
    question = "Who won the chess world cup in 1987?"
    page = opened(local.url)
    ask(page, question)
    told = page.locator(".abstention")
    expect(told).to_contain_text("I don’t know.")
    expect(told.locator(".queries")).to_have_text(question)
    expect(told.locator(".funnel tr").last).to_contain_text("0")
    expect(page.locator("#said")).to_have_text("There is no answer in these documents.")


def test_as_of_another_day_and_as_other_groups(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    page.locator("#narrow").click()
    page.get_by_label("fraud_team", exact=True).first.uncheck()
    page.get_by_label("In force on").fill("2026-06-30")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#narrow")).to_contain_text("What was in force on 30 June 2026, as everyone")
    expect(page.locator("#shelf .book")).to_have_count(2)
    ask(page, QUESTION)
    expect(page.locator(".turn")).not_to_contain_text("120 days")
    expect(page.locator(".narrowed")).to_contain_text("30 June 2026")


def test_text_of_a_document_is_never_markup(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    ask(page, "What does the parrot of the head office say every noon?")
    said = '<script>window.pwned = 1</script> and <img src=x onerror="window.pwned = 2"> every noon.'
    expect(page.locator(".answer-text")).to_contain_text(said)
    page.locator(".marker").first.click()
    assert said in marked(page)
    expect(page.locator("#reader td").last).to_have_text("<b>walnuts</b>")
    assert page.locator(":is(#reader, #turns) :is(script, img, b)").count() == 0
    assert page.evaluate("window.pwned") is None


def test_signs_outside_the_basic_plane_do_not_move_the_mark(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    ask(page, "What does the parrot eat on Friday?")
    quote = page.locator(".note-quote").last.inner_text()
    page.locator(".note").last.click()
    assert "<b>walnuts</b>" in quote
    assert marked(page) == quote.replace(" | ", " ")


def test_a_draft_is_a_draft_until_the_checked_answer_comes(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    draft = f"event: draft\ndata: {json.dumps({'text': 'About a <b>year</b>.'})}\n\n"
    sent: list[str] = []

    def broken_off(route: object) -> None:
        # The stream of a model that fails half way.
        sent.append("")
        route.fulfill(body=draft, content_type="text/event-stream")  # type: ignore[attr-defined]

    page.add_init_script(
        # The draft as it stood when it was replaced.
        "addEventListener('DOMContentLoaded', () => new MutationObserver(() => {"
        " const seen = document.querySelector('.draft:not([hidden])');"
        " if (seen) window.seen = seen.innerText; }).observe(document.body, { subtree: true, childList: true }))"
    )
    page.reload()
    page.route("**/v1/ask", broken_off)
    ask(page, QUESTION)
    assert sent == [""]
    assert page.evaluate("window.seen").split("\n") == ["Draft, not checked yet", "", "About a <b>year</b>."]
    expect(page.locator(".turn [role=alert]")).to_contain_text("The answer broke off.")
    expect(page.locator(".turn")).not_to_contain_text("year")
    page.unroute("**/v1/ask")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".answer-text")).to_have_text(f"{QUOTE}1")
