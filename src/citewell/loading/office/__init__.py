"""What the office formats share: packages, properties, numbering, regions of a page."""
