"""What becomes of the versions of a document: when a new one comes, when it goes, when one is brought back.

Stores only put, drop and fetch; what is put and dropped is decided here, once for all engines.
"""

from citewell.history.changes import Changes, History
from citewell.history.parts import agreeing, tokens_of
from citewell.history.reanalysis import analyse_again

__all__ = ["Changes", "History", "agreeing", "analyse_again", "tokens_of"]
