"""Filters as users write them, `amount >= 25 and not tags contains "draft"`, and as JSON.

    expression = both ("or" both)*
    both       = one ("and" one)*
    one        = "not" one | "(" expression ")" | condition
    condition  = FIELD ("=" | "!=" | "<" | "<=" | ">" | ">=") VALUE
               | FIELD ["not"] "contains" VALUE
               | FIELD ["not"] "in" "(" VALUE ("," VALUE)* ")"

A field or value is one word, or anything in quotes of either kind, where a doubled quote stands for one. What is made
here is not yet checked: its fields may be unknown and its values of the wrong type, which `citewell.filters.check`
refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NoReturn

from citewell.errors import FilterError
from citewell.filters import (
    MAX_DEPTH,
    And,
    Contains,
    Equal,
    FieldType,
    Filter,
    In,
    Leaf,
    Not,
    Or,
    Range,
    as_number,
    shown,
)

MAX_EXPRESSION = 20_000

Value = str | float | date

_TOKEN = re.compile(
    r"""\s* (?: (?P<quoted> "(?:[^"]|"")*+" | '(?:[^']|'')*+' )
              | (?P<sign> [<>!=]=? | [(),] )
              | (?P<word> [^\s"'(),<>!=]+ )
              | (?P<open> ["'] )
              | (?P<end> \Z ) )""",
    re.VERBOSE,
)
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_OWN = frozenset({"and", "or", "not", "in", "contains", *_COMPARISONS, *"!(),"})
_SUCH_AS = 'Write a condition such as department = "legal".'
_LISTED = 'Write a list such as country in ("DE", "AT").'
_IN_QUOTES = "A sign, or a word of the filter's own, needs quotes to be a value."


def parse(text: str, declared: Mapping[str, FieldType]) -> Filter:
    """The condition that an expression says. A word without quotes is a number where its field is one.

    Raises:
        FilterError: it is not written as above, or too long; the message says at which sign.
    """
    if len(text) > MAX_EXPRESSION:
        raise FilterError(f"The filter is longer than {MAX_EXPRESSION:,} signs.", remedy="Ask for less at once.")
    reading = _Reading(_tokens(text), declared)
    condition = reading.expression(1)
    if not reading.token.is_end:
        reading.refuse('"and", "or" or the end', "A text of several words needs quotes.")
    return condition


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a sign or what is in quotes, and its 1-based place; "" at the end."""

    text: str
    place: int
    is_quoted: bool = False

    @property
    def keyword(self) -> str:
        """It in small letters, where it may be one of the grammar's own words."""
        return "" if self.is_quoted else self.text.lower()

    @property
    def is_end(self) -> bool:
        return not self.text and not self.is_quoted


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        word, place = found[kind], found.start(kind) + 1
        if kind == "open":
            raise FilterError(f"The quote at sign {place} of the filter is not closed.", remedy="Add its other one.")
        if kind == "quoted":
            quote = word[0]
            tokens.append(_Token(word[1:-1].replace(quote * 2, quote), place, is_quoted=True))
        else:
            tokens.append(_Token("=" if word == "==" else word, place))
    return tokens


@dataclass(slots=True)
class _Reading:
    """One pass over the tokens, the last of which is the end."""

    tokens: Sequence[_Token]
    declared: Mapping[str, FieldType]
    at: int = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def expression(self, depth: int) -> Filter:
        parts = [self._both(depth)]
        while self._took("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self, depth: int) -> Filter:
        parts = [self._one(depth)]
        while self._took("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self, depth: int) -> Filter:
        if depth > MAX_DEPTH:
            raise _too_deep()
        if self._took("not"):
            return Not(self._one(depth + 1))
        if self._took("("):
            inner = self.expression(depth + 1)
            self._expect(")", '"and", "or" or ")"', "A bracket that is opened must be closed.")
            return inner
        return self._condition()

    def _condition(self) -> Filter:
        field = self._word("a field", _SUCH_AS)
        if self.token.keyword in _COMPARISONS:
            return _compared(field, self._next().text, self._value(field))
        negated = self._took("not")
        condition: Filter
        if self._took("contains"):
            condition = Contains(field, self._word("a text", _IN_QUOTES))
        elif self._took("in"):
            condition = In(field, self._values(field))
        else:
            self.refuse(f"one of {' '.join(_COMPARISONS)} in contains", _SUCH_AS)
        return Not(condition) if negated else condition

    def _values(self, field: str) -> tuple[Value, ...]:
        self._expect("(", '"("', _LISTED)
        values = [self._value(field)]
        while self._took(","):
            values.append(self._value(field))
        self._expect(")", '"," or ")"', _LISTED)
        return tuple(values)

    def _value(self, field: str) -> Value:
        is_number = self.declared.get(field) is FieldType.NUMBER and not self.token.is_quoted
        number = as_number(self.token.text) if is_number else None
        text = self._word("a value", _IN_QUOTES)
        return text if number is None else number

    def _word(self, expected: str, remedy: str) -> str:
        if self.token.is_end or self.token.keyword in _OWN:
            self.refuse(expected, remedy)
        return self._next().text

    def _next(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _took(self, keyword: str) -> bool:
        """Whether that comes next; if so, it is passed."""
        if self.token.keyword != keyword:
            return False
        self.at += 1
        return True

    def _expect(self, sign: str, expected: str, remedy: str) -> None:
        if not self._took(sign):
            self.refuse(expected, remedy)

    def refuse(self, expected: str, remedy: str) -> NoReturn:
        found = "the end" if self.token.is_end else shown(self.token.text)
        raise FilterError(
            f"The filter cannot be read at sign {self.token.place}: expected {expected}, found {found}.", remedy=remedy
        )


def _too_deep() -> FilterError:
    return FilterError(f"The filter has more than {MAX_DEPTH} levels.", remedy="Ask for less at once.")


def _compared(field: str, sign: str, value: Value) -> Filter:
    match sign:
        case "=":
            return Equal(field, value)
        case "!=":
            return Not(Equal(field, value))
        case "<=":
            return Range(field, most=value)
        case ">=":
            return Range(field, least=value)
        case "<":
            return And((Range(field, most=value), Not(Equal(field, value))))
        case _:
            return And((Range(field, least=value), Not(Equal(field, value))))


def from_json(value: object) -> Filter:
    """The condition that plain data says, one of

        {"field": F, "equal": V}    {"field": F, "in": [V, ...]}    {"field": F, "contains": V}
        {"field": F, "gte": V, "lte": V}, one of the two or both
        {"and": [...]}    {"or": [...]}    {"not": {...}}

    where a day is its text, "2026-01-31".

    Raises:
        FilterError: it has another shape, or is nested too deep.
    """
    return _from_json(value, 1)


def _from_json(value: Any, depth: int) -> Filter:
    if depth > MAX_DEPTH:
        raise _too_deep()
    match value:
        case {"and": list(parts)} if len(value) == 1:
            return And(tuple(_from_json(part, depth + 1) for part in parts))
        case {"or": list(parts)} if len(value) == 1:
            return Or(tuple(_from_json(part, depth + 1) for part in parts))
        case {"not": part} if len(value) == 1:
            return Not(_from_json(part, depth + 1))
        case {"field": str(field), **says} if says:
            return _leaf_from_json(field, says)
    raise FilterError(
        "A condition of the filter is neither of a field nor of other conditions.",
        remedy='Write {"field": "amount", "gte": 25}, or one of "and", "or", "not" as the only key.',
    )


def _leaf_from_json(field: str, says: Mapping[Any, Any]) -> Filter:
    match says:
        case {"equal": value} if len(says) == 1:
            return Equal(field, value)
        case {"in": list(values)} if len(says) == 1:
            return In(field, tuple(values))
        case {"contains": text} if len(says) == 1:
            return Contains(field, text)
        case _ if says.keys() <= {"gte", "lte"}:
            return Range(field, says.get("gte"), says.get("lte"))
    raise FilterError(
        f"The filter on {shown(field)} has the keys {', '.join(shown(key) for key in list(says)[:3])}.",
        remedy='Give it one of "equal", "in" (with a list), "contains"; or "gte", "lte" or both.',
    )


def to_json(condition: Filter) -> dict[str, Any]:
    """The plain data that `from_json` reads, of a checked condition."""
    match condition:
        case And(parts):
            return {"and": [to_json(part) for part in parts]}
        case Or(parts):
            return {"or": [to_json(part) for part in parts]}
        case Not(part):
            return {"not": to_json(part)}
        case _:
            return {"field": condition.field, **_leaf_to_json(condition)}


def _leaf_to_json(condition: Leaf) -> dict[str, Any]:
    match condition:
        case Equal(_, value):
            return {"equal": _plain(value)}
        case In(_, values):
            return {"in": [_plain(value) for value in values]}
        case Contains(_, text):
            return {"contains": text}
        case Range(_, least, most):
            ends = {"gte": least, "lte": most}
            return {key: _plain(end) for key, end in ends.items() if end is not None}


def _plain(value: Value) -> str | float:
    return value.isoformat() if isinstance(value, date) else value
