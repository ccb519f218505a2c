"""What is said to the system and asks nothing of the documents: a greeting, thanks, "what can you do?".

A real question must never be turned away, so a text is small talk only where each clause of it is, word for word, one
of these. What is not listed is searched for, and at worst nothing is found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.types import Turn

REPLY = (
    "Ask about what is in the documents: in a sentence, or with a name or a code. Every answer cites the passages it "
    "is taken from; where they do not cover what is asked, it says so."
)
REASON = "nothing was asked that could be looked up"

LONGEST = 120
"""Characters. What is longer says something else too."""

_SAID = frozenset(
    [
        *("hello", "hello there", "hello again", "hello everyone", "hi", "hi there", "hi again", "hi all", "hey"),
        *("hey there", "good morning", "good afternoon", "good evening", "good day", "how are you"),
        *("how are you doing", "how are you today", "nice to meet you", "bye", "bye bye", "goodbye", "have a nice day"),
        *("thanks", "thank you", "thanks a lot", "thanks so much", "thanks very much", "thank you very much"),
        *("thank you so much", "thank you again", "thanks again", "many thanks", "thx", "ok thanks", "okay thanks"),
        *("ok thank you", "okay thank you", "great thanks", "great thank you", "perfect thanks", "perfect thank you"),
        *("thanks for your help", "thank you for your help", "thanks for the help", "thank you for the help"),
        *("hallo", "guten tag", "guten morgen", "guten abend", "danke", "danke schön", "vielen dank", "bonjour"),
        *("bonsoir", "merci", "merci beaucoup", "hola", "buenos días", "buenas tardes", "gracias", "muchas gracias"),
        *("buongiorno", "grazie", "grazie mille", "bom dia", "obrigado", "obrigada", "dank u", "dank je wel"),
    ]
)
_OF_THE_SYSTEM = frozenset(
    [
        *("what can you do", "what can you do for me", "what can i ask", "what can i ask you", "what may i ask you"),
        *("what can you answer", "what questions can you answer", "what kind of questions can you answer"),
        *("who are you", "what are you", "are you a bot", "are you a robot", "are you an ai", "are you a human"),
        *("are you human", "are you a machine", "can you help me", "was kannst du", "wer bist du", "qui es-tu"),
    ]
)
_BESIDE = frozenset({"ok", "okay", "great", "perfect"})
"""Alone they may answer a question, or be a name."""
_CLAUSE = re.compile(r"[.,;:!?\n]+")


def is_small_talk(text: str, turns: Sequence[Turn] = ()) -> bool:
    """Whether nothing is asked that documents could answer.

    After other turns "what can you do?" may go on with their subject, and is a question.
    """
    if len(text) > LONGEST:
        return False
    plain = text.casefold().replace("\u2019", "'").replace("\u00bf", "").replace("\u00a1", "")
    clauses = [" ".join(clause.split()) for clause in _CLAUSE.split(plain) if clause.strip()]
    said = [clause for clause in clauses if clause not in _BESIDE]
    known = _SAID if turns else _SAID | _OF_THE_SYSTEM
    return bool(said) and known.issuperset(said)
