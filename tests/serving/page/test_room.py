"""The page around asking: keys, uploads, the keyboard, colours, narrow screens, and who cannot see it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

import citewell.serving
from tests.serving.page.conftest import BANK, QUESTION, Opened, ask, pages_of
from tests.serving.served import Served

PAGE = Path(citewell.serving.__file__).parent / "page"
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def findings(page: Page) -> list[str]:
    """What axe finds that is serious."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_serious_keeps_anybody_out(local: Served, opened: Opened, *, dark: bool) -> None:
    page = opened(local.url, dark=dark)
    page.locator(".book").first.wait_for()
    assert findings(page) == []
    ask(page, QUESTION)
    page.get_by_text("Passages, and how").click()
    page.locator(".marker").click()
    page.locator("#reader mark").first.wait_for()
    assert findings(page) == []
    page.keyboard.press("Escape")
    ask(page, "Who won the chess world cup in 1987?")
    assert findings(page) == []
    for key in ("u", "r", "?"):
        page.locator("#theme").focus()
        page.keyboard.press(key)
        page.locator("dialog[open]").wait_for()
        assert findings(page) == []
        page.keyboard.press("Escape")


def test_the_keyboard_alone_is_enough(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".marker").wait_for()
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.className") == "marker":
            break
    page.keyboard.press("Enter")
    page.locator("#reader mark").first.wait_for()
    expect(page.locator("#reader-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#reader")).to_be_hidden()
    expect(page.locator(".marker")).to_be_focused()
    page.keyboard.press("1")
    page.locator("#reader mark").first.wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator("#welcome")).to_be_visible()
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("1 / ?")  # typed, they are letters
    expect(page.locator("#question")).to_have_value("1 / ?")


def test_single_keys_can_be_switched_off(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    page.locator("#keys").click()
    page.get_by_label("Single keys are shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator("#upload-dialog")).to_be_hidden()


def test_dark_light_and_as_the_system(local: Served, opened: Opened) -> None:
    wall = "getComputedStyle(document.body).backgroundColor"
    page = opened(local.url, dark=True)
    assert page.evaluate(wall) == "rgb(15, 21, 19)"
    page.locator("#theme").click()
    expect(page.locator("#theme")).to_have_accessible_name("Colours: light")
    assert page.evaluate(wall) == "rgb(237, 241, 237)"
    page.reload()
    assert page.evaluate(wall) == "rgb(237, 241, 237)"


def test_a_narrow_screen_holds_all_of_it(local: Served, opened: Opened) -> None:
    page = opened(local.url, width=360, height=640)
    page.locator(".book").first.wait_for()
    wide = "Math.max(document.documentElement.scrollWidth, document.querySelector('.talk').scrollWidth)"
    assert page.evaluate(wide) <= 360
    ask(page, QUESTION)
    page.get_by_text("Passages, and how").click()
    page.get_by_text("What was searched").click()
    assert page.evaluate(wide) <= 360
    page.locator(".marker").click()
    page.locator("#reader mark").first.wait_for()
    reader = page.locator("#reader").bounding_box()
    assert reader == {"x": 0, "y": 0, "width": 360, "height": 640}
    assert page.evaluate("document.querySelector('.talk').inert")
    page.get_by_label("Close the document").click()
    assert not page.evaluate("document.querySelector('.talk').inert")


def test_a_dropped_file_is_added_and_reported_page_by_page(local: Served, opened: Opened, tmp_path: Path) -> None:
    pages_of(BANK / "manual/fraud-policy-manual-2026.pdf", [16], tmp_path / "x.pdf", blank=1)
    page = opened(local.url)
    page.locator(".book").first.wait_for()
    shelf = page.locator("#shelf .book").count()
    page.evaluate(
        """bytes => {
            const files = new DataTransfer();
            files.items.add(new File([new Uint8Array(bytes)], "one page.pdf"));
            const told = { dataTransfer: files, bubbles: true, cancelable: true };
            for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, told));
        }""",
        list((tmp_path / "x.pdf").read_bytes()),
    )
    expect(page.locator("#upload-jobs progress")).to_have_count(1)
    report = page.locator(".report")
    expect(report.locator("h3")).to_have_text("one page.pdf")
    expect(report).to_contain_text("1 text, 1 blank")
    report.locator("summary").click()
    expect(report).to_contain_text("Page 2, blank: it has no text")
    expect(page.locator(".job-says")).to_have_text("1 added")
    expect(page.locator("#upload-jobs progress")).to_have_count(0)
    expect(page.locator("#shelf .book")).to_have_count(shelf + 1)
    page.locator("#files").set_input_files({"name": "one page.pdf", "mimeType": "x/y", "buffer": b"again"})
    expect(page.locator(".job.failed")).to_contain_text("You have uploaded a file 'one page.pdf' before.")


def test_a_key_is_asked_for_and_stays_in_the_tab(keyed: Served, opened: Opened) -> None:
    token = keyed.client("reader", "read", "fraud_team").headers["Authorization"].removeprefix("Bearer ")
    page = opened(keyed.url)
    page.locator("#key").fill("cw_wrong")
    page.get_by_role("button", name="Use this key").click()
    expect(page.locator("#key-says")).to_contain_text("does not hold")
    page.locator("#key").fill(token)
    page.get_by_role("button", name="Use this key").click()
    page.locator(".book").first.wait_for()
    expect(page.locator("#add")).to_be_hidden()  # the key may only read
    ask(page, QUESTION)
    page.locator(".marker").click()
    page.locator("#reader mark").first.wait_for()
    assert page.evaluate("Object.values(sessionStorage)") == [token]
    assert token not in page.evaluate("JSON.stringify(localStorage)")
    assert page.context.cookies() == []
    page.reload()
    page.locator(".book").first.wait_for()
    page.get_by_role("button", name="Forget key").click()
    expect(page.locator("#key")).to_be_visible()


def test_no_key_is_asked_for_where_there_are_none(local: Served, opened: Opened) -> None:
    page = opened(local.url)
    page.locator(".book").first.wait_for()
    expect(page.locator("#key-dialog")).to_be_hidden()
    expect(page.locator("#forget")).to_be_hidden()


def test_the_page_is_for_everybody_and_its_files_alone(keyed: Served) -> None:
    with httpx.Client(base_url=keyed.url) as nobody:
        index = nobody.get("/")
        assert index.headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src 'self';" in index.headers["content-security-policy"]
        assert nobody.get("/favicon.ico").headers["content-type"] == "image/svg+xml"
        for name in re.findall(r'(?:src|href)="(static/[^"]+)"', index.text):
            assert nobody.get(f"/{name}").status_code == 200
        worker = nobody.get("/static/vendor/pdfjs/pdf.worker.min.mjs")
        assert worker.headers["content-type"] == "text/javascript; charset=utf-8"
        assert worker.headers["cache-control"] == "no-cache"
        again = nobody.get(worker.url.path, headers={"If-None-Match": worker.headers["etag"]})
        assert again.status_code == 304
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/", "/static/none.js"):
        assert keyed.client("looks", "read").get(path).status_code == 404


def test_nothing_is_in_line_or_from_elsewhere() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|//", index) == []
    for file in [*PAGE.glob("*.js"), *PAGE.glob("styles/*.css")]:
        text = file.read_text(encoding="utf-8")
        assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text) == [], file
        assert [found for found in re.findall(r"https?://\S+", text) if "www.w3.org" not in found] == [], file


def test_what_is_not_ours_has_its_licence() -> None:
    for folder in ("pdfjs", "pdfjs/standard_fonts", "fonts"):
        assert [*(PAGE / "vendor" / folder).glob("LICENSE*")], folder


def test_me(keyed: Served) -> None:
    me = keyed.client("me", "write", "fraud_team").get("/v1/me").json()
    assert me == {
        "version": 1,
        "name": keyed.caller("me"),
        "scopes": ["read", "write"],
        "groups": ["everyone", "fraud_team"],
    }
