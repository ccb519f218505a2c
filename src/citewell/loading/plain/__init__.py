"""Plain text and delimited tables."""
