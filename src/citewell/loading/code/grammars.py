"""The languages that are read by their syntax: what their grammars call definitions, what holds these, and imports."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar's package and function, and its names for the kinds of nodes that we look for.

    `functions` are never divided, `classes` where they are long, `spaces` (namespaces, conditional compilation)
    always. `wrappers` stand around one of these: a decorator, an export, an assignment. `imports` bring names in;
    `requires` do so where they call `require`. `joint` joins qualified names.
    """

    package: str
    functions: frozenset[str]
    classes: frozenset[str] = _NONE
    spaces: frozenset[str] = _NONE
    wrappers: frozenset[str] = _NONE
    imports: frozenset[str] = _NONE
    requires: frozenset[str] = _NONE
    joint: str = "."
    function: str = "language"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C_SPACES = "preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification"
_JS_FUNCTIONS = """
    function_declaration generator_function_declaration method_definition arrow_function function_expression
    generator_function
"""
_JS_WRAPPERS = """
    export_statement lexical_declaration variable_declaration variable_declarator expression_statement
    assignment_expression field_definition
"""
_JS_REQUIRES = _words("lexical_declaration variable_declaration")

_PYTHON = Grammar(
    "tree_sitter_python",
    functions=_words("function_definition"),
    classes=_words("class_definition"),
    wrappers=_words("decorated_definition"),
    imports=_words("import_statement import_from_statement"),
)
_JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    functions=_words(_JS_FUNCTIONS),
    classes=_words("class_declaration class"),
    wrappers=_words(_JS_WRAPPERS),
    imports=_words("import_statement"),
    requires=_JS_REQUIRES,
)
_TYPESCRIPT = Grammar(
    "tree_sitter_typescript",
    functions=_words(_JS_FUNCTIONS),
    classes=_words("""
        class_declaration class abstract_class_declaration interface_declaration enum_declaration
        type_alias_declaration
    """),
    spaces=_words("internal_module module"),
    wrappers=_words(_JS_WRAPPERS + "ambient_declaration public_field_definition"),
    imports=_words("import_statement import_alias"),
    requires=_JS_REQUIRES,
    function="language_typescript",
)
_TSX = Grammar(
    "tree_sitter_typescript",
    functions=_TYPESCRIPT.functions,
    classes=_TYPESCRIPT.classes,
    spaces=_TYPESCRIPT.spaces,
    wrappers=_TYPESCRIPT.wrappers,
    imports=_TYPESCRIPT.imports,
    requires=_JS_REQUIRES,
    function="language_tsx",
)
_JAVA = Grammar(
    "tree_sitter_java",
    functions=_words("method_declaration constructor_declaration compact_constructor_declaration"),
    classes=_words("""
        class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration
    """),
    spaces=_words("enum_body_declarations"),
    imports=_words("import_declaration"),
)
_C = Grammar(
    "tree_sitter_c",
    functions=_words("function_definition"),
    classes=_words("struct_specifier union_specifier enum_specifier"),
    spaces=_words(_C_SPACES),
    wrappers=_words("type_definition declaration"),
    imports=_words("preproc_include"),
)
_CPP = Grammar(
    "tree_sitter_cpp",
    functions=_words("function_definition"),
    classes=_words("class_specifier struct_specifier union_specifier enum_specifier"),
    spaces=_words(_C_SPACES + " namespace_definition"),
    wrappers=_words("type_definition declaration template_declaration field_declaration"),
    imports=_words("preproc_include using_declaration alias_declaration"),
    joint="::",
)
_C_SHARP = Grammar(
    "tree_sitter_c_sharp",
    functions=_words("""
        method_declaration constructor_declaration destructor_declaration operator_declaration
        conversion_operator_declaration indexer_declaration local_function_statement
    """),
    classes=_words("class_declaration struct_declaration interface_declaration enum_declaration record_declaration"),
    spaces=_words("namespace_declaration preproc_if preproc_else preproc_elif"),
    wrappers=_words("global_statement"),
    imports=_words("using_directive"),
)
_GO = Grammar(
    "tree_sitter_go",
    functions=_words("function_declaration method_declaration"),
    classes=_words("type_spec"),
    wrappers=_words("type_declaration"),
    imports=_words("import_declaration"),
)
_RUST = Grammar(
    "tree_sitter_rust",
    functions=_words("function_item macro_definition"),
    classes=_words("impl_item trait_item struct_item enum_item union_item"),
    spaces=_words("mod_item foreign_mod_item"),
    imports=_words("use_declaration extern_crate_declaration"),
    joint="::",
)
_RUBY = Grammar(
    "tree_sitter_ruby",
    functions=_words("method singleton_method"),
    classes=_words("class singleton_class"),
    spaces=_words("module"),
    requires=_words("call"),
    joint="::",
)
_PHP = Grammar(
    "tree_sitter_php",
    functions=_words("function_definition method_declaration"),
    classes=_words("class_declaration interface_declaration trait_declaration enum_declaration"),
    spaces=_words("namespace_definition"),
    imports=_words("namespace_use_declaration"),
    joint="::",
    function="language_php",
)
_BASH = Grammar("tree_sitter_bash", functions=_words("function_definition"))
_KOTLIN = Grammar(
    "tree_sitter_kotlin",
    functions=_words("function_declaration secondary_constructor"),
    classes=_words("class_declaration object_declaration companion_object"),
    imports=_words("import"),
)
_SCALA = Grammar(
    "tree_sitter_scala",
    functions=_words("function_definition"),
    classes=_words("class_definition object_definition trait_definition enum_definition"),
    spaces=_words("package_object"),
    imports=_words("import_declaration"),
)
_ENDINGS = {
    "py pyi": _PYTHON,
    "js mjs cjs jsx": _JAVASCRIPT,
    "ts": _TYPESCRIPT,
    "tsx": _TSX,
    "java": _JAVA,
    "c": _C,
    "h cc cpp cxx hpp hh": _CPP,  # a header of C is read well enough as C++
    "cs": _C_SHARP,
    "go": _GO,
    "rs": _RUST,
    "rb rakefile gemfile": _RUBY,
    "php": _PHP,
    "sh bash": _BASH,
    "kt": _KOTLIN,
    "scala": _SCALA,
}
_BY_ENDING = {ending: grammar for endings, grammar in _ENDINGS.items() for ending in endings.split()}
_INTERPRETERS = (("python", _PYTHON), ("node", _JAVASCRIPT), ("ruby", _RUBY), ("php", _PHP), ("sh", _BASH))
_INTERPRETER = re.compile(r"#!\S*?(?:env(?: -S)? )?([a-z]+)[\d.]*(?:\s|$)")


def grammar_of(name: str, first_line: str) -> Grammar | None:
    """By the name's ending, else by the interpreter that the first line names."""
    path = PurePath(name.lower())
    grammar = _BY_ENDING.get(path.suffix.removeprefix(".") or path.name)
    if grammar is not None or path.suffix:
        return grammar
    interpreter = _INTERPRETER.match(first_line)
    program = interpreter[1] if interpreter else ""
    return next((grammar for ending, grammar in _INTERPRETERS if program.endswith(ending)), None)


@cache
def language(package: str, function: str) -> Language | None:
    """The compiled grammar, loaded when a file needs it; None where its package is not installed."""
    from tree_sitter import Language

    try:
        module = importlib.import_module(package)
    except ModuleNotFoundError:
        return None
    return Language(getattr(module, function)())
