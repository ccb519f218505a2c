"""HTML: the main content of a page, as elements."""
