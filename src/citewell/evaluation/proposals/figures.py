"""Sentences that hold a figure, turned round to ask for it: "is kept for 7 years" - "For how many years is ...?"."""

from __future__ import annotations

import regex

from citewell.evaluation.proposals.proposal import Wording

_AUXILIARY = "is|are|was|were|may|must|can|should|shall|will"
_DOING = (
    "takes|lasts|holds|expires|runs|reaches|stays|ends|begins|starts|opens|closes|receives|earns|pays|carries"
    "|keeps|gives|works|applies|allows|answers|waits"
)
_NUMBER = r"(?:\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty)"
_UNIT = r"(?:(?:business|working|calendar|full)\s)?(?:seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?)"
_MONEY = rf"[£$€¥]\s?{_NUMBER}"
_TIME = r"\d\d?:\d\d|noon|midnight"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"\d{{1,2}}\s(?:{_MONTHS})(?:\s\d{{4}})?"
_LIMIT = r"(?:at\sleast|at\smost|up\sto|no\smore\sthan|not\smore\sthan|more\sthan|less\sthan)\s"

_SENTENCE = regex.compile(
    rf"""
    (?P<subject> [\p{{Lu}}][^,;:()"]{{3,70}}? ) \s (?: (?P<aux> {_AUXILIARY} ) | (?P<doing> {_DOING} ) )
    (?P<middle> (?: \s [^,;:()"]{{1,80}}? )?? )
    \s (?P<asked>
        (?P<span> (?:within|for|after) \s (?:{_LIMIT})? ) {_NUMBER} \s (?P<unit> {_UNIT} )
      | (?P<sum> (?:up\sto|above|below|over|under|from) ) \s {_MONEY}
      | (?P<hour> (?:at|by|until|before|after|from) ) \s (?:{_TIME})
      | (?P<day> (?:by|on|until|before|since|from) ) \s (?:{_DATE})
    ) (?! [\w%] ) (?P<after> .* ) [.]
    """,
    regex.VERBOSE,
)
_AMOUNT = regex.compile(
    rf"""
    (?P<subject> [\p{{Lu}}][^,;:()"]{{3,70}}? ) \s
    (?: (?P<long> takes|lasts ) \s (?:{_LIMIT})? {_NUMBER} \s {_UNIT}
      | (?P<much> costs ) \s (?:{_LIMIT})? {_MONEY}
      | (?P<value> is|are ) \s (?:{_LIMIT})? (?: {_MONEY} | {_NUMBER} \s (?:{_UNIT}|per\scent) | \d[\d.,]*% )
      | (?P<many> has|holds|needs|requires|receives|contains|covers|keeps ) \s (?:{_LIMIT})? {_NUMBER} \s
        (?P<things> [\p{{Ll}}-]+s )
    ) \b (?P<after> .* ) [.]
    """,
    regex.VERBOSE,
)
# What stands for something named before, or begins a clause that needs another.
_NO_SUBJECT = regex.compile(
    r"""
    ^(?: (?:it | its | this | that | these | those | they | their | he | she | his | her | we | you | your | i | there
    | here | such | if | when | where | while | after | before | since | because | as | although | then | also | but
    | and | or | so | see | one | another | both | some | most | until | from | in | on | at | by | for | with | without
    | to | what | who | how | not | no | nobody | nothing | whoever | whatever | of | under | only | later) \b )
    | \b(?: who | which | that | whose | where | when | this | these | those | same | latter | former | it | they | them
    | above | below )\b
    | ^the \s (?: first | second | third | last | next | other | rest ) \b
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_CLAUSE = regex.compile(rf"\b(?:{_AUXILIARY}|and|or|but|not|never|who|which|that|if|when|it|they|them|there)\b")
_CONDITION = regex.compile(r",?\s(?:if|unless|when|where|except)\s[^,;:()]+")
_ARTICLE = regex.compile(r"(?:the|an?|each|every|all|any)\s", regex.IGNORECASE)
_BASES = {"has": "have", "reaches": "reach", "carries": "carry", "applies": "apply"}


def figure_question(sentence: str, words: Wording) -> str:
    """The question that the figure in the sentence answers; "" where there is none that could be asked on its own."""
    found = _AMOUNT.fullmatch(sentence)
    if found is not None and stands_alone(found["subject"]) and (found["value"] or _is_one(found["subject"])):
        return _amount_question(found, words) + _condition(found["after"])
    found = _SENTENCE.fullmatch(sentence)
    if found is None or not stands_alone(found["subject"]) or _CLAUSE.search(found["middle"]):
        return ""
    if found["doing"] and not _is_one(found["subject"]):
        return ""
    subject = words.subject(found["subject"])
    middle = found["middle"] + _condition(found["after"]).removesuffix("?")
    if found["aux"]:
        return f"{_asked(found)} {found['aux']} {subject}{middle}?"
    return f"{_asked(found)} does {subject} {_base(found['doing'])}{middle}?"


def _asked(found: regex.Match[str]) -> str:
    if found["span"]:
        unit = found["unit"]
        return f"{found['span'].strip().capitalize()} how many {unit if unit.endswith('s') else unit + 's'}"
    prepositions = {"sum": "amount", "hour": "time", "day": "date"}
    return next(f"{found[name].capitalize()} what {noun}" for name, noun in prepositions.items() if found[name])


def _amount_question(found: regex.Match[str], words: Wording) -> str:
    subject = words.subject(found["subject"])
    if found["long"]:
        return f"How long does {subject} {_base(found['long'])}"
    if found["much"]:
        return f"How much does {subject} cost"
    if found["value"]:
        return f"What {found['value']} {subject}"
    return f"How many {found['things']} does {subject} {_base(found['many'])}"


def _condition(after: str) -> str:
    """What follows the figure, where it says in which case."""
    found = _CONDITION.fullmatch(after)
    return f"{found.group()}?" if found else "?"


def _base(verb: str) -> str:
    return _BASES.get(verb, verb.removesuffix("s"))


def _is_one(subject: str) -> bool:
    """Not of "Access follows the role and ends on": one verb is turned round, not two."""
    return "and" not in subject.split()


def stands_alone(subject: str) -> bool:
    """Whether a reader knows what is meant without the sentence before: "the rule" and "it" were named there."""
    if _NO_SUBJECT.search(subject):
        return False
    article = _ARTICLE.match(subject)
    rest = subject[article.end() :] if article else subject
    return bool(rest) and (subject[:4].casefold() != "the " or len(rest.split()) > 1)
