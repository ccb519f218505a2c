"""One evaluation shown: as a dictionary for programs, as Markdown, and as one HTML file that needs no network."""
