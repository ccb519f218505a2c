"""Pages that are pictures: read by OCR into the same words and ruling lines that a digital page has.

`picture` is the way from a picture to a `Scan`: `engine` finds and reads the lines of text, `straighten` turns the
picture upright, `rules` finds its ruling lines, `lettering` how large a line is set. `agreement` tells whether a text
layer says what OCR reads.
"""
