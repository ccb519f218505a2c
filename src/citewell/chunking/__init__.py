"""Documents to chunks, and chunks to the entries that are embedded."""

from citewell.chunking.entries import entries
from citewell.chunking.sentences import sentences
from citewell.chunking.structure import Chunked, chunk
from citewell.chunking.windows import windows

__all__ = ["Chunked", "chunk", "entries", "sentences", "windows"]
