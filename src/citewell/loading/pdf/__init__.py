"""PDF files: text in reading order with headings, tables, footnotes, links and page labels.

The steps, in the order they run: `file` reads pages with pdfium (`words`, `drawing`, `links`, `properties`) and looks
for damage that pdfium passes over (`streams`), `seen`
holds what a page says against what it shows, and has OCR read what has no text; `tables` takes ruled tables out,
`furniture` running headers and footers, `layout` puts lines into columns, `blocks` lines into paragraphs, `headings`
finds the document's outline, `spanning` the tables that go on over pages, `states` says what became of each page.
`document` is the way through all of them; pictures join it at `build_pages`.
"""

from __future__ import annotations

from citewell.loading.pdf.document import build_pages, load_pdf

__all__ = ["build_pages", "load_pdf"]
