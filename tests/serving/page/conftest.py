"""The page in a real browser, on a real service over a small index with pages of the example's manual."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from citewell.index import Index
from citewell.serving.app import create_app
from citewell.settings import Security, Service, Settings
from tests.serving.served import Served, serving

expect.set_options(timeout=15_000)  # a busy machine needs more than the 5 s of the library

BANK = Path(__file__).parents[3] / "examples/bank/documents"
QUESTION = "How many days does a customer have to dispute a card payment?"
QUOTE = "A customer may dispute a card payment within 120 days of the transaction date."
HOSTILE = """\
# The parrot of the head office

🦜 The parrot says &lt;script>window.pwned = 1&lt;/script> and &lt;img src=x onerror="window.pwned = 2"> every noon.

| Day | What the parrot eats |
| --- | --- |
| Friday | &lt;b>walnuts&lt;/b> |
"""
ACCESS = '[[rule]]\nmatch = "manual.pdf"\ngroups = ["fraud_team"]\ntitle = "Fraud Policy Manual"\n'


def pages_of(source: Path, pages: list[int], to: Path, *, blank: int = 0) -> None:
    """Write a PDF of these pages (from 1), and so many blank ones behind them."""
    made = pypdfium2.PdfDocument.new()
    whole = pypdfium2.PdfDocument(source)
    made.import_pages(whole, [page - 1 for page in pages])
    for _ in range(blank):
        made.new_page(595, 842)
    made.save(to)
    made.close()
    whole.close()


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `files/` and their index `index`."""
    folder = tmp_path_factory.mktemp("page")
    files = folder / "files"
    files.mkdir()
    pages_of(BANK / "manual/fraud-policy-manual-2026.pdf", [28, 29, 30], files / "manual.pdf")
    shutil.copy(BANK / "public/branch-hours.html", files)
    (files / "parrot.md").write_text(HOSTILE, encoding="utf-8")
    (files / "citewell-access.toml").write_text(ACCESS, encoding="utf-8")
    with Index.create(folder / "index") as index:
        index.add(files)
    return folder


def settings(state: Path) -> Settings:
    return Settings(service=Service(state=str(state)), security=Security(as_groups=("fraud_team",)))


@pytest.fixture(scope="module")
def local(bank: Path) -> Iterator[Served]:
    """Without keys, for this machine."""
    with serving(create_app(bank / "index", settings(bank / "local"), no_auth=True)) as served:
        yield served


@pytest.fixture(scope="module")
def keyed(bank: Path) -> Iterator[Served]:
    with serving(create_app(bank / "index", settings(bank / "keyed"))) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@dataclass(frozen=True, slots=True)
class Opened:
    """Opens pages. What goes wrong in one, or is fetched from elsewhere, fails the test at its end."""

    browser: Browser
    complaints: list[str]

    def __call__(self, url: str, *, width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self._heard(message))  # the library writes to what it is given
        page.on("request", lambda request: self._asked(request.url, url))
        page.on("response", lambda response: self._answered(response.url, response.status))
        page.goto(url)
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:  # `_answered` looks
            self.complaints.append(message.text)

    def _answered(self, asked: str, status: int) -> None:
        if status >= 400 and "/v1/" not in asked:  # what the service refuses, the page tells
            self.complaints.append(f"{status} for {asked}")

    def _asked(self, asked: str, own: str) -> None:
        if not asked.startswith((own, "data:", "blob:")):
            self.complaints.append(f"asked for {asked}")


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    opened = Opened(browser, [])
    yield opened
    for context in browser.contexts:
        context.close()
    assert not opened.complaints


def ask(page: Page, question: str) -> None:
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")
    page.locator(".turn").last.locator(".answer[aria-busy=false]").wait_for()
