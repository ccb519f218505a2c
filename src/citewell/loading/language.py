"""The language of a text: by its script where one language alone writes it, else by a model of short byte sequences.

The model is py3langid's, a naive Bayes classifier (Lui and Baldwin 2012, "langid.py"). A wrong tag would stem a text by
wrong rules, none leaves it to the default: so doubt gives none.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_PIECES = 5
_PIECE = 800  # characters
_FEWEST_LETTERS = 20
_FEWEST_WORDS = 3  # different ones, in scripts with spaces
_LEAST_PROBABILITY = 0.7

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")
# Each first of those below it: Japanese writes Chinese characters too.
_SCRIPTS = (
    ("ja", regex.compile(r"[\p{Hiragana}\p{Katakana}]"), 0.05),
    ("ko", regex.compile(r"\p{Hangul}"), 0.3),
    ("zh", regex.compile(r"\p{Han}"), 0.5),
    ("th", regex.compile(r"\p{Thai}"), 0.5),
    ("el", regex.compile(r"\p{Greek}"), 0.5),
)
_ALIASES = {"nn": "no", "nb": "no"}
_NO_LANGUAGE = "zxx"
_LOADING = threading.Lock()


def detect_language(text: str) -> str:
    """The ISO 639-1 tag of the language that most of the text is in, `no` for all of Norwegian; "" when unsure.

    It looks at up to 4,000 characters, spread over the text. The first call that needs the model loads it: 0.7 s and
    80 MB.
    """
    words = _WORD.findall(_sample(text))
    letters = "".join(words)
    if not letters:
        return ""
    for language, script, share in _SCRIPTS:
        if len(script.findall(letters)) >= share * len(letters):
            return language
    if len(letters) < _FEWEST_LETTERS or len({word.casefold() for word in words}) < _FEWEST_WORDS:
        return ""
    return _by_model(" ".join(words))


def _sample(text: str) -> str:
    """Pieces from the whole of a long text: its beginning may be a form, a table or a quotation."""
    if len(text) <= _PIECES * _PIECE:
        return text
    step = (len(text) - _PIECE) // (_PIECES - 1)
    return " ".join(text[start : start + _PIECE] for start in range(0, step * _PIECES, step))


def _by_model(words: str) -> str:
    probabilities: dict[str, float] = {}
    for tag, probability in _model().rank(words):
        language = _ALIASES.get(tag, tag)
        probabilities[language] = probabilities.get(language, 0.0) + float(probability)
    best = max(probabilities, key=lambda language: probabilities[language])
    return best if probabilities[best] >= _LEAST_PROBABILITY and best != _NO_LANGUAGE else ""


def _model() -> LanguageIdentifier:
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    # Without those that have no tag of two letters, small neighbours of large languages.
    model.set_languages([tag for tag in model.labels if len(tag) == 2 or tag == _NO_LANGUAGE])
    return model
