"""The words of a claim, by the analyser that search uses."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from citewell.retrieval.amounts import UNIT_WORDS, amount_tokens
from citewell.retrieval.analyser import analyse, analyse_query

_RAISED = re.compile("(?<=\\d)[²³¹⁰⁴-⁹]")
_SAME = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-") | {"’": "'"})
_BESIDE = "zz"
_UNITS = frozenset(UNIT_WORDS.values())
_NEGATING = """
not no never cannot without neither nor none nobody nothing unable impossible lacks avoid
nicht kein keine keinen keinem keiner keines nie niemals ohne weder
pas jamais aucun aucune sans
nunca sin ningun ninguna ninguno
non senza mai nessun nessuna nessuno
niet geen nooit zonder
nao nem sem nenhum nenhuma
не нет без никогда нельзя
"""
NEGATORS = frozenset(_NEGATING.split())
"""Words that deny, folded, in the languages that documents are most often in."""


_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)


def whole(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no model takes."""
    return text.encode("utf-8", "replace").decode()


def normal(text: str) -> str:
    """One spelling for what looks alike; a raised figure, as of a footnote, is taken off a number."""
    text = _PER_CENT.sub("percent", text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _RAISED.sub(" ", text)).translate(_SAME)


def telling(text: str) -> list[str]:
    """The words (stems) of a text, each once, without those that only ask or join.

    Units and negations are no words: they are compared exactly.
    """
    text = normal(text)
    amounts = (token for token in amount_tokens(text) if not token[0].isdigit())
    beside = _BESIDE.upper() if text.isupper() else _BESIDE  # or a query of nothing else keeps the words that ask
    asked = set(analyse_query(f"{text} {beside}")).difference(amounts, _UNITS)
    return [word for word in dict.fromkeys(analyse(text)) if word in asked and word not in NEGATORS]


@lru_cache(maxsize=1 << 14)
def only_asks(word: str) -> bool:
    """Whether it is a word like `the` or `what`, which a query leaves out."""
    return analyse_query(f"{word.casefold()} {_BESIDE}") == analyse_query(_BESIDE)
