"""Marks by which a text pretends to be more than a text: the end of the document, the system's turn, a prompt's tag.

Expressions for a text as `signs.folded` leaves it. Each begins with a sign, a word or at a line's start, and every
repetition in it is bounded, so that a search takes time in proportion to the text.

What ordinary markup, settings and code are full of is `_WEAK` at most: a tag, an end of one, a name in brackets. It
needs a sign of another kind beside it. Strong are the tokens of chat templates and what only a prompt would hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from citewell.security.patterns import Kind, Sign

_WEAK = 0.45
_ROLE = "(?:system|assistant|developer|sys|admin|administrator|root)"
_SAID = """(?:note|notice|message|prompt|update|override|instruction|alert|command|task|request
    |hinweis|nachricht|meldung|anweisung)"""
_PART = """(?:users?|inputs?|document|context|data|prompt|conversation|instructions?|passages?|system|query|question
    |task|untrusted|email|content|assistant|tool|retrieved|dokument|eingabe|nutzereingabe|anweisung(?:en)?|kontext
    |utilisateur|consignes|usuario|entrada|instrucciones|utente|istruzioni|texto|testo|texte|contexte|contexto|contesto)"""
_END = r"(?:[-_ ][^>\n]{0,40})?>"
_FENCE = r"(?<![-=\#*~_<>\[|!])[-=\#*~_<>\[|]{2,200}+[ ]?"
_BOUND = "(?:end|beginning|begin|start|ende|beginn|anfang|fin|debut|inicio|fine|inizio)"
_GOES_ON = r"(?!\W{0,200}\Z)"
_OF = "(?:of|des?|der|del|dell[ao]|d'|dell')"

_EXPRESSIONS = (
    # the tokens of chat templates
    (Kind.DELIMITER, 0.8, r"<\|?(?:im_(?:start|end|sep)|system|user|assistant|end(?:of(?:text|prompt))?|eot_id)\|>"),
    (Kind.DELIMITER, 0.8, r"<\|(?:start_header_id|end_header_id|begin_of_text)\|>|<(?:start|end)_of_turn>"),
    (Kind.DELIMITER, 0.8, r"\[/(?:inst|system_prompt|available_tools|tool_calls|tool_results)\]|<</?sys>>"),
    (Kind.DELIMITER, _WEAK, r"\[(?:inst|system_prompt|available_tools|tool_calls|tool_results)\]"),
    # tags that open what stands above a passage
    (
        Kind.DELIMITER,
        _WEAK,
        rf"""<(?:system|system_prompt|(?:new_)?instructions?|admin|override|important|assistant|think(?:ing)?|scratchpad)
        {_END}""",
    ),
    # === END OF USER INPUT ===, but for headings ("## End users"), where the text really ends, and what divides a
    # page or a program (<!-- end content -->, --- end data ---)
    (Kind.DELIMITER, 0.5, rf"{_FENCE}{_BOUND}[ ]{_OF}[ ]?(?:the[ ])?{_PART}\b{_GOES_ON}"),
    (
        Kind.DELIMITER,
        0.5,
        rf"""{_FENCE}{_BOUND}[ ](?:the[ ])?(?!(?:inputs?|data|content|task|tool|email|query|text[eo]|testo)[ ]?[-=])
        {_PART}(?:[ ]\w{{1,20}})?[ ]?[-=\#*~_<>\]|]{{2}}{_GOES_ON}""",
    ),
    (Kind.DELIMITER, _WEAK, rf"<!--+[ ]?{_BOUND}[ ](?:{_OF}[ ]?)?(?:the[ ])?{_PART}\b"),
    # [SYSTEM NOTE], and a role alone: [SYSTEM], ## system:, a line of it
    (Kind.DELIMITER, 0.55, rf"[\[<{{][ ]?{_ROLE}[ ]{_SAID}s?[ ]?[\]>}}:]"),
    (Kind.DELIMITER, _WEAK, rf"(?:[\[<({{]|^\#{{1,6}}[ ]|^>[ ]|\*\*)[ ]?{_ROLE}(?:[ ]{_SAID}s?)?[ ]?[\])>}}:](?!\()"),
    (Kind.DELIMITER, _WEAK, rf"^[^\w\n]{{0,8}}{_ROLE}[ ]?(?:{_SAID}s?)?[ ]?:"),
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
    # in HTML, templates have such places too, for what else than the conversation
    (
        Kind.EXFILTRATION,
        0.6,
        r"""<img[ ][^>]{0,300}[?&][\w-]{1,30}=(?:[{$\[<(]|%7b){1,3}[a-z_ -]{0,20}
        (?:summary|history|conversation|secrets?|prompt)[ _}\]>)%]""",
    ),
    (Kind.EXFILTRATION, _WEAK, r"<img[ ][^>]{0,300}[?&][\w-]{1,30}=(?:[{$\[]|%7b|data|secret|history|context)"),
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
_NAMED = rf"(?:{_PART}|documents|results|sources?)"
_TAG = re.compile(rf"<(?P<opens>{_NAMED})(?=[-_\s>])(?![^<>]{{0,200}}/>)|</(?P<closes>{_NAMED}){_END}", re.VERBOSE)
"""A tag of what a prompt may show: opening, unless it closes itself, or closing. `user_input` counts as `user`."""
_OF_A_PROMPT = re.compile(
    rf"""</(?:passages?|context|kontext|contexte|contexto|contesto|prompt|conversation|retrieved|untrusted
    |(?:user|system)_(?:input|prompt|query|question|message)){_END}""",
    re.VERBOSE,
)
"""Other names end elements of ordinary markup, of which a text may show a part."""
_UNOPENED = 0.5


def marks(text: str) -> Iterator[Sign]:
    """The marks in a folded text."""
    for kind, strength, expression in _MARKS:
        for found in expression.finditer(text):
            yield Sign(*found.span(), kind, strength)


def unopened(text: str) -> Iterator[Sign]:
    """The closing tags in a whole folded text that no tag before them opens: they close what the text stands in."""
    opened: Counter[str] = Counter()
    for tag in _TAG.finditer(text):
        if name := tag["opens"]:
            opened[name] += 1
        elif opened[tag["closes"]]:
            opened[tag["closes"]] -= 1
        else:
            strength = _UNOPENED if _OF_A_PROMPT.match(text, tag.start()) else _WEAK
            yield Sign(*tag.span(), Kind.DELIMITER, strength)
