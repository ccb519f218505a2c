"""Marks by which a text pretends to be more than a text: the end of the document, the system's turn, a prompt's tag.

Expressions for a text as `signs.folded` leaves it. Each begins with a sign, a word or at a line's start, and every
repetition in it is bounded, so that a search takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.security.patterns import Kind, Sign

_ROLE = "(?:system|assistant|developer|sys|admin|administrator|operator|root)"
_SAID = """(?:note|notice|message|prompt|update|override|instruction|alert|command|task|request
    |hinweis|nachricht|meldung|anweisung)"""
_PART = """(?:users?|inputs?|document|context|data|prompt|conversation|instructions?|passages?|system|query|question
    |task|untrusted|email|content|assistant|tool|retrieved|dokument|eingabe|nutzereingabe|anweisung(?:en)?|kontext
    |utilisateur|consignes|usuario|entrada|instrucciones|utente|istruzioni|texto|testo|texte|contexte|contexto|contesto)"""
_END = r"(?:[-_ ][^>\n]{0,40})?>"
_FENCE = r"[-=\#*~_<>\[|]{2,20}[ ]?"

_EXPRESSIONS = (
    # the tokens of chat templates
    (Kind.DELIMITER, 0.8, r"<\|?(?:im_(?:start|end|sep)|system|user|assistant|end(?:of(?:text|prompt))?|eot_id)\|>"),
    (Kind.DELIMITER, 0.8, r"<\|(?:start_header_id|end_header_id|begin_of_text)\|>|<(?:start|end)_of_turn>"),
    (Kind.DELIMITER, 0.8, r"\[/?(?:inst|system_prompt|available_tools|tool_calls|tool_results)\]|<</?sys>>"),
    # tags that close a passage, and open what stands above one
    (
        Kind.DELIMITER,
        0.5,
        rf"</(?:{_PART}|user_input|system_prompt|documents|results|sources?){_END}",
    ),
    (
        Kind.DELIMITER,
        0.5,
        rf"<(?:system|system_prompt|(?:new_)?instructions?|admin|override|important){_END}",
    ),
    (Kind.DELIMITER, 0.5, rf"<(?:assistant|think|thinking|scratchpad){_END}"),
    # === END OF USER INPUT ===
    (
        Kind.DELIMITER,
        0.5,
        rf"""{_FENCE}(?:end|beginning|begin|start|ende|beginn|anfang|fin|debut|inicio|fine|inizio)[ ]
        (?:of[ ]|des?[ ]|der[ ]|del[ ]|d'|dell[ao']?[ ]?)?(?:the[ ])?{_PART}\b""",
    ),
    # [SYSTEM], ## system:, and a line of a role
    (Kind.DELIMITER, 0.55, rf"(?:[\[<({{]|^\#{{1,6}}[ ]|^>[ ]|\*\*)[ ]?{_ROLE}(?:[ ]{_SAID}s?)?[ ]?[\])>}}:]"),
    (Kind.DELIMITER, 0.45, rf"^[^\w\n]{{0,8}}{_ROLE}[ ]?(?:{_SAID}s?)?[ ]?:"),
    (
        Kind.FORGED,
        0.4,
        rf"^[^\w\n]{{0,8}}(?:(?:important|urgent|critical)[ ])?{_ROLE}[ ]?{_SAID}s?\b[^\w\n]{{0,4}}[:\])-]",
    ),
    (Kind.FORGED, 0.35, r"(?:breach|security|system|admin|emergency)[ ](?:alert|override|update|bulletin|directive)\b"),
    (
        Kind.FORGED,
        0.4,
        r"""\b(?:user|utilisateur|usuario|utente|nutzer)[ ](?:is|has|est|es|ist|e)[ ](?:now[ ])?(?:an?[ ]|un[ ]|ein[ ])?
        (?:admin|administrator|root|authori[sz]ed|trusted|verified|full)\b""",
    ),
    (
        Kind.ADDRESSED,
        0.45,
        r"(?:^|<!--)[^\w\n]{0,8}(?:ai|llms?|gpt|chatgpt|claude|gemini|copilot|ki)(?:[ ][a-z]{1,20})?[ ]?:",
    ),
    # pictures whose address has a place for what the model knows
    (
        Kind.EXFILTRATION,
        0.7,
        r"""!\[[^\]\n]{0,200}\]\([^)\s]{0,300}
        (?:[{$<\[]|%7b|=(?:data|secret|base64|summary|history|context|conversation|encoded|insert|your))""",
    ),
    (Kind.EXFILTRATION, 0.6, r"<img[ ][^>]{0,300}[?&][\w-]{1,30}=(?:[{$\[]|%7b|data|secret|history|context)"),
    (
        Kind.OVERRIDE,
        0.6,
        r"""\b(?:new|updated|revised|real|actual|neue|nouvelles|nuevas|nuove)[ ](?:system[ ])?
        (?:instructions?|directives?|anweisung(?:en)?|consignes|instrucciones|istruzioni|rules|orders|task)[ ]?:""",
    ),
    # without spaces
    (
        Kind.OVERRIDE,
        0.9,
        r"""(?:ignore|disregard|forget|ignoriere)(?:_?(?:all|any|the|your|previous|prior|above|alle|vorherigen)){1,4}_?
        (?:instruction|rule|prompt|command|guideline|anweisung)""",
    ),
)
_MARKS = tuple(
    (kind, strength, re.compile(expression, re.MULTILINE | re.VERBOSE)) for kind, strength, expression in _EXPRESSIONS
)


def marks(text: str) -> Iterator[Sign]:
    """The marks in a folded text."""
    for kind, strength, expression in _MARKS:
        for found in expression.finditer(text):
            yield Sign(*found.span(), kind, strength)
