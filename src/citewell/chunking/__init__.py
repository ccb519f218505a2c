"""Documents to chunks, and to the entries that are embedded."""

from citewell.chunking.pipeline import CHUNKER_VERSION, Chunked, chunk
from citewell.chunking.sentences import sentences
from citewell.chunking.windows import windows

__all__ = ["CHUNKER_VERSION", "Chunked", "chunk", "sentences", "windows"]
