// A PDF, a page at a time, with the sentence marked in its text, or its place where the page is a picture.

import { h, icon, LEFT, RIGHT } from "./dom.js";
import { find } from "./match.js";

const HERE = new URL("./vendor/pdfjs/", import.meta.url);
const ZOOMS = [1, 1.25, 1.5, 2, 3];

// Fetched with the first PDF that is opened.
const pdfjs = async () => {
  const library = await import("./vendor/pdfjs/pdf.min.mjs");
  library.GlobalWorkerOptions.workerSrc = new URL("pdf.worker.min.mjs", HERE).href;
  return library;
};

// No WebAssembly and no code out of the file: the page's policy allows neither.
export async function openPdf(data) {
  const { getDocument } = await pdfjs();
  return getDocument({ data, useWasm: false, wasmUrl: HERE.href, standardFontDataUrl: new URL("standard_fonts/", HERE).href, useSystemFonts: false, enableXfa: false, isEvalSupported: false }).promise;
}

export class PdfView {
  // `asText` shows the document as text in its place.
  constructor(stage, pdf, asText) {
    this._pdf = pdf;
    this._zoom = 0;
    this._drawn = 0;
    this._sheet = h("div", { class: "sheet" });
    this._desk = h("div", { class: "desk", tabindex: "0", role: "region", "aria-label": "The page" }, this._sheet);
    this._number = h("input", { type: "number", min: "1", max: String(pdf.numPages), "aria-label": "Page in the file", onchange: () => this._go(Number(this._number.value)) });
    this._says = h("p", { class: "reader-says", hidden: true });
    stage.replaceChildren(this._tools(asText), this._says, this._desk);
    let width = 0;
    this._resized = new ResizeObserver(([entry]) => {
      if (width && Math.abs(entry.contentRect.width - width) > 4) this._draw();
      width = entry.contentRect.width;
    });
  }

  async open(target, elements) {
    this._target = { page: target.page_number, quote: target.quote ?? "", boxes: elements.filter((one) => one.box && target.end > target.start) };
    await this._go(target.page_number ?? 1);
    this._resized.observe(this._desk);
    return this;
  }

  turn(by) {
    return this._go(this._page + by);
  }

  close() {
    this._resized.disconnect();
    this._drawn += 1;
    this._drawing?.cancel();
  }

  _tools(asText) {
    const button = (label, content, act) => h("button", { type: "button", class: "tool compact", "aria-label": label, onclick: act }, content);
    return h(
      "div",
      { class: "reader-tools", role: "toolbar", "aria-label": "Pages" },
      button("Page before", icon(LEFT), () => this.turn(-1)),
      h("span", { class: "page-number" }, this._number, ` of ${this._pdf.numPages.toLocaleString("en")}`),
      button("Page after", icon(RIGHT), () => this.turn(1)),
      h("span", { class: "gap" }),
      h("button", { type: "button", class: "tool", onclick: asText }, "As text"),
      button("Smaller", "−", () => this._zoomTo(this._zoom - 1)),
      button("Larger", "+", () => this._zoomTo(this._zoom + 1)),
    );
  }

  _zoomTo(zoom) {
    this._zoom = Math.min(Math.max(zoom, 0), ZOOMS.length - 1);
    return this._draw();
  }

  _go(page) {
    this._page = Math.min(Math.max(Math.round(page) || 1, 1), this._pdf.numPages);
    this._number.value = String(this._page);
    return this._draw();
  }

  async _draw() {
    const turn = ++this._drawn;
    this._drawing?.cancel();
    const { TextLayer } = await pdfjs();
    const page = await this._pdf.getPage(this._page);
    const content = await page.getTextContent();
    if (turn !== this._drawn) return;
    const size = page.getViewport({ scale: 1 });
    const scale = (Math.max(this._desk.clientWidth - 24, 200) / size.width) * ZOOMS[this._zoom];
    const viewport = page.getViewport({ scale });
    const canvas = h("canvas", { "aria-hidden": "true" });
    const sharp = page.getViewport({ scale: scale * Math.min(devicePixelRatio || 1, 2) });
    canvas.width = Math.floor(sharp.width);
    canvas.height = Math.floor(sharp.height);
    this._drawing = page.render({ canvas, viewport: sharp });
    try {
      await this._drawing.promise;
    } catch (error) {
      if (error.name === "RenderingCancelledException") return;
      throw error;
    }
    if (turn !== this._drawn) return;
    const words = h("div", { class: "textLayer" });
    words.style.setProperty("--total-scale-factor", String(scale));
    this._sheet.style.width = `${viewport.width}px`;
    this._sheet.style.height = `${viewport.height}px`;
    this._sheet.replaceChildren(canvas, words);
    const layer = new TextLayer({ textContentSource: content, container: words, viewport });
    await layer.render();
    if (turn === this._drawn) this._mark(layer.textDivs, content.items, size);
  }

  // In the words where the page has them, else the places of what they stand in.
  _mark(spans, items, size) {
    const { page, quote, boxes } = this._target;
    const here = boxes.filter((one) => one.page_number === this._page).map((one) => one.box);
    const top = here.length ? here[0][1] : 0;
    const nearest = (piece) => Math.abs(size.height - items[piece].transform[5] - top);
    const found = this._page === page || here.length ? find(spans.map((span) => span.textContent), quote, nearest) : [];
    const marks = found.length ? found.map((part) => markPart(spans[part.piece], part)) : here.map((box) => this._box(box, size));
    this._tell(found.length, marks.length, quote && this._page === page);
    if (marks.length) marks[0].scrollIntoView({ block: "center", inline: "nearest" });
    else this._desk.scrollTo(0, 0);
  }

  _box([left, top, right, bottom], size) {
    const box = h("div", { class: "box" });
    box.style.left = `${(100 * left) / size.width}%`;
    box.style.top = `${(100 * top) / size.height}%`;
    box.style.width = `${(100 * (right - left)) / size.width}%`;
    box.style.height = `${(100 * (bottom - top)) / size.height}%`;
    this._sheet.append(box);
    return box;
  }

  _tell(words, marks, wanted) {
    this.marked = words ? "The sentence is marked." : marks ? "The place of the sentence is marked." : "";
    this._says.hidden = words > 0 || !wanted;
    this._says.textContent = marks ? "The words cannot be told apart on this page: their place is marked." : "The sentence was not found on this page, so nothing is marked.";
  }
}

function markPart(span, { start, end }) {
  const text = span.textContent;
  const mark = h("mark", {}, text.slice(start, end));
  span.replaceChildren(text.slice(0, start), mark, text.slice(end));
  return mark;
}
