from __future__ import annotations

import gzip
import json
import os
import random
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.loading.code import grammars, load_code, neighbours, syntax
from citewell.loading.code.grammars import grammar_of
from citewell.loading.code.imports import Imports, bound_names
from citewell.loading.parsed import Parsed
from citewell.settings import Loading
from citewell.types import Element, ElementKind
from tests.loading.checks import check_spans, pieces

SHARED = Path(os.environ.get("CITEWELL_SHARED", Path(__file__).parents[2].parent / "shared"))
LONG_BODY = "\n".join(f"        x{number} = {number}" for number in range(70))
FILLER = "\n\n".join(f"    int field{number};" for number in range(40))
PYTHON = f'''"""Scores a payment."""

import math

LIMIT = 120


# Counts from the transaction date.
@cache
def days(start):
    if start:

        return LIMIT


async def later(): ...
AFTER = "\\d"


class Small:
    def method(self):
        return 1


class Large:
    """Many rules."""

    table = {{}}

    # The first rule.
    @property
    def first(self):
{LONG_BODY}

    class Inner:
        def deep(self): ...

    rest = 1
'''
FILLED_LINE = re.compile(r"[^\S\n]*\S")
IMPORTS = """import json
import os.path
from datetime import date, timedelta as delta
from accounts.rules import (
    Fee,
    Limit,
)

def total(fees):
    return json.dumps(fees, delta(1))

def limit(card):
    '''Fee and os are only words here.'''
    return Limit(card)
"""

SOURCES = {
    "Fees.java": f"""package bank;

import java.util.List;
import static bank.Rules.check;
import bank.text.*;

/** All fees. */
@Service
public class Fees extends Table {{
{FILLER}

    /** Those of a card. */
    @Override
    public List<String> of(Card card) {{
        check(card);
        return null;
    }}

    enum Kind {{ FLAT, SHARE }}
}}
""",
    "fees.rs": """//! Fees.
use crate::{
    cards::{Card, Kind},
    rules::check as verify,
};

/// All fees.
#[derive(Debug)]
pub struct Fees<T> {
    cards: Vec<Card>,
}

impl<T> Table for Fees<T>
where
    T: Clone,
{
    fn of(&self) -> bool { verify(self) }
}

mod tests {
    #[test]
    fn counts() {}
}
""",
    "fees.go": """package bank

import (
\t"fmt"
\thttp "net/http"
)

// Fees of a bank.
type Fees struct {
\tcards int
}

// Of a card.
func (f *Fees) Of(card string) error {
\treturn fmt.Errorf(card)
}
""",
    "fees.cpp": f"""#include "bank/fee_table.h"
#include <vector>

namespace bank {{ namespace fees {{

template <typename T>
class BANK_EXPORT Fees : public Table {{
 public:
  Fees() : count(1) {{}}
{FILLER}
}};

std::vector<int> Fees::of(Card card)
{{
  FeeTable table;
  return table[card];
}}

}}  // namespace fees
}}
""",
    "fees.h": "#ifndef BANK_FEES_H\n#define BANK_FEES_H\n\nint of(int card) { return 1; }\n\n#endif  // BANK_FEES_H\n",
    "fees.c": """#include <stdio.h>

typedef struct {
  int card;
} Fees;

static struct Fees *of(int card)
{
  puts(0);
}
""",
    "fees.ts": """import { check, total as sum } from "./rules";
const fs = require("fs");

/** A sum. */
export const of = (card: string): number => {
  return sum(card, fs.read());
};

export namespace rates {
  export function daily() {}
}

export default class Fees {
  all() { return check(); }
}
""",
    "fees.cs": """using System.Text;
using Json = Newtonsoft.Json;

namespace Bank.Fees
{
    /// <summary>All fees.</summary>
    [Table]
    public class Fees
    {
        public string Of() { return Json.Write(1); }
    }
}
""",
    "fees.rb": """require 'json'

module Bank
  # All fees.
  class Fees
    def of
      JSON.parse(1)
    end
  end
end
""",
    "fees.php": """<?php
namespace Bank;
use Rules\\Limit;

/** A fee. */
function fee() {
  return new Limit();
}
""",
    "fees.kt": "package bank\n\nimport bank.rules.Limit\n\nobject Fees {\n  fun of() = Limit(1)\n}\n",
    "fees.scala": "import bank.rules.{Limit, Kind}\n\nobject Fees {\n  def of: Int = Limit(1)\n}\n",
    "fees.sh": "#!/bin/bash\nset -e\n\n# A fee.\nfee() {\n  echo 1\n}\n\nfee\n",
    "fees.js": """import sum from './sum.js';

class Fees {}

module.exports.of = function () {
  return sum(1);
};
""",
}  # fmt: skip


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short, each definition by itself."""
    monkeypatch.setattr(neighbours, "_SHORT", 0)


def load(source: str, name: str) -> Parsed:
    parsed = load_code(source.encode(), name, Loading())
    check_spans(parsed)
    assert {element.kind for element in parsed.elements} == {ElementKind.CODE}
    return parsed


def blocks(parsed: Parsed) -> list[tuple[tuple[str, ...], str]]:
    return [(element.heading_path, parsed.text[element.start : element.end]) for element in parsed.elements]


def element(parsed: Parsed, *path: str) -> Element:
    return next(one for one in parsed.elements if one.heading_path == path)


def filled_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.replace("\0", "").split("\n") if line.strip()]


def check_lines(source: str, parsed: Parsed) -> None:
    """Every line that is not blank is in exactly one element, in order, and every cut is a line's start."""
    told: list[str] = []
    for one in parsed.elements:
        text = parsed.text[one.start : one.end]
        told += filled_lines(text)
        assert list(one.cuts) == sorted(set(one.cuts))
        for cut in one.cuts:
            assert 0 < cut < len(text)
            assert text[cut - 1] == "\n"
            assert FILLED_LINE.match(text, cut)
    assert told == filled_lines(source)


@pytest.mark.usefixtures("apart")
def test_python_is_cut_at_its_definitions() -> None:
    found = blocks(load(PYTHON, "rules.py"))
    assert [path for path, _ in found] == [
        (),
        ("days",),
        ("later",),
        (),
        ("Small",),
        ("Large",),
        ("Large.first",),
        ("Large.Inner",),
        ("Large",),
    ]
    by_path = dict(found[:-1])
    assert by_path["days",] == (
        "# Counts from the transaction date.\n@cache\ndef days(start):\n    if start:\n\n        return LIMIT"
    )
    assert by_path["Large",] == 'class Large:\n    """Many rules."""\n\n    table = {}'
    assert by_path["Large.first",].startswith(
        "    # The first rule.\n    @property\n    def first(self):\n        x0 = 0"
    )
    assert found[-1][1] == "    rest = 1"


def test_line_ends_of_windows_change_nothing() -> None:
    assert load(PYTHON.replace("\n", "\r\n"), "rules.py") == load(PYTHON, "rules.py")
    assert load(PYTHON, "rules.py").title == "rules.py"


@pytest.mark.usefixtures("apart")
def test_the_preamble_has_the_imports_in_use_and_the_signature() -> None:
    parsed = load(IMPORTS, "fees.py")
    assert element(parsed, "total").preamble == (
        "import json\nfrom datetime import date, timedelta as delta\ndef total(fees):"
    )
    assert element(parsed, "limit").preamble == "from accounts.rules import ( Limit,\ndef limit(card):"
    assert parsed.elements[0].preamble == ""


@pytest.mark.usefixtures("apart")
def test_the_preamble_of_a_method_has_its_class() -> None:
    assert element(load(PYTHON, "rules.py"), "Large.first").preamble == "class Large:\ndef first(self):"


def test_short_neighbours_are_one_passage_under_all_their_names() -> None:
    (whole,) = load(SOURCES["fees.go"], "fees.go").elements
    assert whole.heading_path == ("Fees.Of",)
    assert whole.preamble == ""  # it shows the imports itself
    rows = [f"    def rule{number}(self):\n        return Limit({number})\n" for number in range(40)]
    parsed = load("from rules import Limit\n\nclass Rules:\n" + "\n".join(rows), "rules.py")
    assert all(one.end - one.start <= 700 for one in parsed.elements)
    assert len(parsed.elements) == 3
    assert parsed.elements[1].heading_path[0].startswith("Rules.rule14, rule15, rule16")
    assert parsed.elements[1].preamble == "from rules import Limit\nclass Rules:"


def test_a_path_of_many_names_ends_after_those_that_fit() -> None:
    source = "".join(f"def quite_a_long_name_{number}(): ...\n\n" for number in range(15))
    (whole,) = load(source, "f.py").elements
    names = whole.heading_path[0].split(", ")
    assert names == [f"quite_a_long_name_{number}" for number in range(len(names))]
    assert len(names) == 4


def test_a_function_says_where_its_statements_begin() -> None:
    loop = "    for card in cards:\n" + "".join(f"        total += fee(card, {number})\n" for number in range(30))
    source = f"def total(cards):\n    total = 0\n{loop}    # done\n    return total\n"
    parsed = load(source, "fees.py")
    (function,) = parsed.elements
    begins = [parsed.text[cut:].split("\n")[0] for cut in function.cuts]
    assert begins[0] == "    for card in cards:"
    assert begins[1] == "        total += fee(card, 0)"  # the loop itself is long
    assert len(begins) == 32
    assert begins[-1] == "    # done"  # a comment stays with the statement below it


def test_a_short_statement_is_not_cut() -> None:
    assert load("def f(x):\n    if x:\n        return 1\n    return 2\n", "f.py").elements[0].cuts == ()


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("Fees.java", ["", "Fees", "Fees.of", "Fees.Kind"]),
        ("fees.rs", ["", "Fees", "Fees", "", "tests::counts"]),
        ("fees.go", ["", "Fees", "Fees.Of"]),
        ("fees.cpp", ["", "bank::fees::Fees", "bank::fees::Fees::Fees", "bank::fees::Fees", "bank::fees::Fees::of"]),
        ("fees.h", ["", "of"]),
        ("fees.c", ["", "Fees", "of"]),
        ("fees.ts", ["", "of", "", "rates.daily", "Fees"]),
        ("fees.cs", ["", "Bank.Fees.Fees"]),
        ("fees.rb", ["", "Bank::Fees"]),
        ("fees.php", ["", "fee"]),
        ("fees.kt", ["", "Fees"]),
        ("fees.scala", ["", "Fees"]),
        ("fees.sh", ["", "fee", ""]),
        ("fees.js", ["", "Fees", "module.exports.of"]),
    ],
)
def test_qualified_names_in_other_languages(name: str, paths: list[str]) -> None:
    parsed = load(SOURCES[name], name)
    assert ["".join(one.heading_path) for one in parsed.elements] == paths
    check_lines(SOURCES[name], parsed)


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    ("name", "path", "above"),
    [
        ("Fees.java", "Fees.of", ["import java.util.List;", "import static bank.Rules.check;"]),
        ("fees.rs", "Fees", ["use crate::{ cards::{Card, Kind},"]),
        ("fees.go", "Fees.Of", ['import ( "fmt"', "func (f *Fees) Of(card string) error {"]),
        (
            "fees.cpp",
            "bank::fees::Fees::of",
            ['#include "bank/fee_table.h"', "#include <vector>", "std::vector<int> Fees::of(Card card)"],
        ),
        ("fees.c", "of", ["static struct Fees *of(int card)"]),
        (
            "fees.ts",
            "of",
            [
                'import { check, total as sum } from "./rules";',
                'const fs = require("fs");',
                "export const of = (card: string): number => {",
            ],
        ),
        ("fees.cs", "Bank.Fees.Fees", ["using Json = Newtonsoft.Json;"]),
        ("fees.rb", "Bank::Fees", ["require 'json'", "class Fees"]),
        ("fees.php", "fee", ["use Rules\\Limit;", "function fee() {"]),
        ("fees.kt", "Fees", ["import bank.rules.Limit", "object Fees {"]),
        ("fees.scala", "Fees", ["import bank.rules.{Limit, Kind}", "object Fees {"]),
        ("fees.sh", "fee", ["fee() {"]),
        ("fees.js", "module.exports.of", ["import sum from './sum.js';", "module.exports.of = function () {"]),
    ],
)
def test_preambles_in_other_languages(name: str, path: str, above: list[str]) -> None:
    assert element(load(SOURCES[name], name), path).preamble.split("\n")[: len(above)] == above


@pytest.mark.usefixtures("apart")
def test_comments_and_attributes_stand_with_what_is_below() -> None:
    by_path = dict(blocks(load(SOURCES["Fees.java"], "Fees.java")))
    assert by_path["Fees",].startswith("/** All fees. */\n@Service\npublic class Fees")
    assert by_path["Fees.of",].startswith("    /** Those of a card. */\n    @Override")
    assert by_path["Fees.Kind",].endswith("}\n}")  # the end of the class is no element by itself
    rust = blocks(load(SOURCES["fees.rs"], "fees.rs"))
    assert rust[1][1].startswith("/// All fees.\n#[derive(Debug)]\npub struct")


@pytest.mark.usefixtures("apart")
def test_the_name_after_an_export_macro_is_the_class() -> None:
    assert "Fees : public Table" in element(load(SOURCES["fees.cpp"], "fees.cpp"), "bank::fees::Fees").preamble


@pytest.mark.usefixtures("apart")
def test_broken_code_is_read_as_far_as_it_is_whole() -> None:
    source = "print 'two'\n\ndef f(x):\n\treturn x\n\nclass (:\n  if\n\ndef g(:\n"
    parsed = load(source, "old.py")
    check_lines(source, parsed)
    assert element(parsed, "f").preamble == "def f(x):"


def test_a_language_without_a_grammar_is_cut_at_blank_lines_before_unindented_lines() -> None:
    source = "(defun a ()\n  (one)\n\n  (two)\n\n)\n\n(defun b ())\n"
    assert blocks(load(source, "a.el")) == [((), "(defun a ()\n  (one)\n\n  (two)\n\n)"), ((), "(defun b ())")]


def test_a_grammar_that_is_not_installed_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(grammars._BY_ENDING["py"], package="tree_sitter_that_is_absent")
    monkeypatch.setitem(grammars._BY_ENDING, "py", absent)
    assert blocks(load("import a\n\ndef f():\n\n  pass\n", "f.py")) == [((), "import a"), ((), "def f():\n\n  pass")]


def test_a_file_without_ending_tells_its_language_by_its_interpreter() -> None:
    names = {"#!/usr/bin/env python3": "py", "#!/bin/bash -e": "sh", "#!/usr/bin/env -S node": "js"}
    for line, ending in names.items():
        assert grammar_of("run", line) == grammar_of(f"run.{ending}", "")
    assert grammar_of("run", "#!/usr/bin/perl") is None
    assert grammar_of("notes.txt", "#!/bin/bash") is None


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("import os.path", {"path"}),
        ("import numpy as np, re", {"np", "re"}),
        ("from a.b import c as d, e", {"d", "e"}),
        ("import a, { b as c } from './lib/d.js'", {"a", "c"}),
        ("const { readFile } = require('fs/promises')", {"readFile"}),
        ("import static a.b.C.run;", {"run"}),
        ("use a::{self, b::{C, D as E}, f::*};", {"C", "E"}),
        ('import (\n\t"net/http"\n\tx "encoding/json"\n)', {"file:http", "file:json", "x"}),
        ('#include "a/fee_table.hpp"', {"file:feetable"}),
        ("require_relative 'lib/http_client'", {"file:httpclient"}),
        ("use A\\B\\{C, D as E};", {"C", "E"}),
        ("using Json = Newtonsoft.Json;", {"Json"}),
    ],
)
def test_names_that_an_import_brings_in(statement: str, names: set[str]) -> None:
    assert bound_names(statement) == names


def test_imports_leave_room_for_the_code() -> None:
    imports = Imports.of(
        (number, f"from module_with_a_long_name_{number} import name_{number}") for number in range(100)
    )
    lines = list(imports.using({f"name_{number}" for number in range(100)}))
    assert 200 < sum(map(len, lines)) <= 240
    assert lines[0].endswith("import name_0")


HOSTILE = {
    "deep.py": "(" * 90_000 + "\n\nx = 1",
    "deep.cpp": "namespace a {\n" * 60_000,
    "deep.js": "if (a) {\n" * 60_000,
    "chain.rb": "a" + ".b\n" * 100_000,
    "angles.cpp": "a<\n" * 30_000,
    "prose.cpp": "the quick brown fox, jumps; over (the lazy) dog's \"tail\n" * 5_000,
    "imports.py": "import a_b\n" * 5_000 + "def f():\n  return a_b\n" * 5_000,
    "spaces.py": "def f():\n  pass\n" + " " * 90_000 + "x\n",
    "ends.c": "}\n" * 200_000,
    "line.js": "var a=1;" * 20_000,
    "long.py": "x = 1\n" * 50_000,
    "nul.py": "def f():\n\0  return 1\0\n",
}


@pytest.mark.parametrize(("name", "source"), HOSTILE.items())
def test_hostile_code_is_read_in_bounded_time(name: str, source: str) -> None:
    begin = time.process_time()
    parsed = load(source, name)
    assert time.process_time() - begin < 20
    check_lines(source, parsed)


def test_code_that_the_parser_takes_too_many_steps_for_is_cut_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "a<\n" * 3_000
    assert len(load(source, "angles.cpp").elements[0].cuts) > 0
    monkeypatch.setattr(syntax, "_MOST_STEPS", 100)
    assert load(source, "angles.cpp").elements[0].cuts == ()


def mutated(source: str, seed: int) -> str:
    """The source with some of its lines lost, doubled, joined or filled with signs."""
    choose = random.Random(seed)
    lines = source.split("\n")
    for _ in range(choose.randrange(1, 12)):
        place = choose.randrange(len(lines))
        lines[place] = choose.choice(
            ["", "{", "}", '"""', "/*", "  " + lines[place], lines[place] * 2, lines[place][: len(lines[place]) // 2]]
        )
    return "\n".join(lines)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from([*SOURCES, "rules.py"]), seed=st.integers(0, 10_000))
def test_no_line_is_lost_or_told_twice(name: str, seed: int) -> None:
    source = mutated(SOURCES.get(name, PYTHON), seed)
    check_lines(source, load(source, name))


@settings(max_examples=60, deadline=None)
@given(
    ending=st.sampled_from(["py", "cpp", "rb", "ts", "sh", "php", "rs"]),
    source=st.text(alphabet="ab(){}[]<>:;=\"'`#/*\\\n\t äß中\U0001f600.,$@", min_size=1).filter(str.strip),
)
def test_no_line_of_any_text_is_lost(ending: str, source: str) -> None:
    check_lines(source, load(source, f"any.{ending}"))


def shared_documents() -> Iterator[dict[str, str]]:
    with gzip.open(SHARED / "data" / "contextual-codebase" / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
def test_real_projects_are_read_whole_and_by_name() -> None:
    named = []
    for document in shared_documents():
        parsed = load(document["text"], Path(document["path"]).name)
        check_lines(document["text"], parsed)
        named.append(any(one.heading_path for one in parsed.elements))
    assert named.count(False) <= 3  # of 90: files without any definition


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Fees\n", "\n", "All of them."]},
        {
            "cell_type": "code",
            "source": "print('```')\nplot()",
            "outputs": [
                {"output_type": "stream", "text": ["```\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<Figure>"}},
            ],
        },
        {"cell_type": "code", "source": ["total = 120"], "outputs": []},
    ],
    "nbformat": 4,
}


def test_a_notebook_is_its_cells_in_order() -> None:
    parsed = load_code(json.dumps(NOTEBOOK).encode(), "fees.ipynb", Loading())
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Fees"),
        (ElementKind.PARAGRAPH, "All of them."),
        (ElementKind.CODE, "print('```')\nplot()"),
        (ElementKind.CODE, "```"),
        (ElementKind.CODE, "<Figure>"),
        (ElementKind.CODE, "total = 120"),
    ]
    assert parsed.title == "Fees"
    assert parsed.lost == ("pictures that its code drew (1)",)


@pytest.mark.parametrize("source", ["{", "[1, 2]", '{"cells": 1}', "[" * 100_000])
def test_what_is_no_notebook_is_read_as_it_stands(source: str) -> None:
    assert load(source, "odd.ipynb").text == source


def test_a_notebook_that_is_cut_off_says_so() -> None:
    data = json.dumps(NOTEBOOK).encode()
    parsed = load_code(data[: len(data) * 6 // 10], "a.ipynb", Loading())
    assert parsed.noted == ("it is no whole notebook, and was read as text",)
    assert parsed.text
