"""Markdown: CommonMark with tables, footnotes and front matter."""
