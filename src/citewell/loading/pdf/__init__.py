"""PDF files: text in reading order with headings, tables, footnotes and page labels.

The steps, in the order they run: `file` reads pages with pdfium (`words`, `drawing`), `tables` takes ruled tables out,
`furniture` running headers and footers, `layout` puts lines into columns, `blocks` lines into paragraphs, `headings`
finds the document's outline. `document` is the way through all of them.
"""

from __future__ import annotations

from citewell.loading.pdf.document import load_pdf

__all__ = ["load_pdf"]
