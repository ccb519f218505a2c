"""Take the pictures of the page in docs/images: `python scripts/page_images.py URL`.

The service at URL is `citewell serve --no-auth` on an index of `examples/bank/documents`, with `as_groups` for all of
it. Needs `playwright` and a Chromium on the path; what is uploaded for the picture is deleted again, the runs of the
bench are left.
"""

import io
import json
import shutil
import sys
import time
from pathlib import Path

import httpx
import pypdfium2
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
QUESTION = "How many days does a customer have to dispute a card payment?"


def main() -> None:
    url = sys.argv[1]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, url)
        browser.close()


def take(browser: Browser, url: str) -> None:
    page = opened(browser, url)
    save(page, "light")
    ask(page, QUESTION)
    page.locator(".marker").first.click()
    page.locator("#reader mark").first.wait_for()
    save(page, "answer")
    page.keyboard.press("Escape")
    page.get_by_text("Passages, and how").click()
    save(page, "passages")
    page.locator("#new").click()
    ask(page, "Who won the chess world cup in 1987?")
    save(page, "unanswered")
    dark = opened(browser, url, dark=True)
    ask(dark, "When is the Northmoor branch open on weekdays?")
    dark.locator(".marker").first.click()
    dark.locator("#reader mark").first.wait_for()
    save(dark, "dark")
    narrow = opened(browser, url, width=360, height=740)
    ask(narrow, QUESTION)
    save(narrow, "narrow")
    bench(browser, url)
    upload(opened(browser, url), url)


def bench(browser: Browser, url: str) -> None:
    """A run of the example's test set, and what becomes of its answers with one passage each."""
    questions = [json.loads(line) for line in (ROOT / "examples/bank/testset.jsonl").read_text().splitlines()]
    asked = {"questions": questions, "name": "bank.jsonl"}
    one = {"retrieval": {"keep": 1}}
    evaluated = run(url, "evaluations", {**asked})
    run(url, "evaluations", {**asked, "settings": one})
    tried = [{"name": "as it is"}, {"name": "retrieval.keep = 1", "settings": one}]
    compared = run(url, "comparisons", {**asked, "settings": tried})
    page = opened(browser, url, height=900)
    at_bench(page, url, "", ".run-figures")
    save(page, "bench-runs")
    page.set_viewport_size({"width": 1280, "height": 1240})  # down to the curve
    at_bench(page, url, evaluated, ".cards")
    save(page, "bench")
    at_bench(page, url, compared, ".trial")
    save(page, "bench-compared")
    dark = opened(browser, url, dark=True, height=900)
    at_bench(dark, url, evaluated, ".cards")
    question = dark.locator(".question").nth(3)
    question.locator("summary").click()
    question.locator("summary").evaluate("summary => summary.scrollIntoView()")
    question.locator(".found-note").first.click()
    dark.locator("#reader mark").first.wait_for()
    question.locator("summary").evaluate("summary => summary.scrollIntoView()")
    save(dark, "bench-dark")
    narrow = opened(browser, url, width=360, height=740)
    at_bench(narrow, url, evaluated, ".cards")
    narrow.locator(".cards").evaluate("cards => cards.parentElement.scrollIntoView()")
    save(narrow, "bench-narrow")


def run(url: str, what: str, body: dict[str, object]) -> str:
    """The id of the job, when it is done."""
    with httpx.Client(base_url=url, timeout=60) as client:
        job: str = client.post(f"/v1/{what}", json=body).raise_for_status().json()["job"]
        while (state := client.get(f"/v1/jobs/{job}").json()["state"]) in ("queued", "running"):
            time.sleep(1)
    if state != "done":
        sys.exit(f"The job {job} has {state}.")
    return job


def at_bench(page: Page, url: str, job: str, there: str) -> None:
    page.goto(f"{url}/#bench/{job}" if job else f"{url}/#bench")
    page.locator(there).first.wait_for()


def upload(page: Page, url: str) -> None:
    """One file that is done, with a page that is blank, and one that is being read."""
    page.locator("#add").click()
    with httpx.Client(base_url=url, timeout=60) as client:
        before = {one["document"] for one in client.get("/v1/documents").json()["documents"]}
    page.locator("#files").set_input_files({"name": "fraud-rings.pdf", "mimeType": "application/pdf", "buffer": some()})
    page.locator(".report").wait_for()
    page.locator(".report summary").click()
    documents = ROOT / "examples/bank/documents"
    page.locator("#files").set_input_files(
        [documents / "public/branch-hours.html", documents / "manual/fraud-policy-manual-2025.pdf"]
    )
    page.get_by_text("1 of 2 done").wait_for()
    save(page, "upload")
    page.get_by_role("button", name="Cancel").click()
    page.locator(".job progress").wait_for(state="detached", timeout=600_000)
    with httpx.Client(base_url=url, timeout=60) as client:
        for one in client.get("/v1/documents").json()["documents"]:
            if one["document"] not in before:
                client.delete(f"/v1/documents/{one['document']}").raise_for_status()


def some() -> bytes:
    """Three pages of the manual and a blank one."""
    made = pypdfium2.PdfDocument.new()
    whole = pypdfium2.PdfDocument(ROOT / "examples/bank/documents/manual/fraud-policy-manual-2026.pdf")
    made.import_pages(whole, [35, 36, 37])
    made.new_page(595, 842)
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


def opened(browser: Browser, url: str, *, width: int = 1280, height: int = 800, dark: bool = False) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    page.locator(".book").first.wait_for()
    return page


def ask(page: Page, question: str) -> None:
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")
    page.locator(".turn").last.locator(".answer[aria-busy=false]").wait_for()


def save(page: Page, name: str) -> None:
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(500)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(ROOT / f"docs/images/page-{name}.png", optimize=True)


main()
