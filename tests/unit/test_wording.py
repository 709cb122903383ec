"""Contract: decisions contain no sentences; assay.wording writes all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay.search

SEARCH = Path(assay.search.__file__).parent
MIN_WORDS = 3
WORD = re.compile(r"[A-Za-z']{2,}")


def parts_without_sentences(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield docstrings, and nodes within ``raise`` statements and regular expressions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
        ):
            yield from ast.walk(node)


def text_of(node: ast.AST) -> str:
    """Return the text of a string literal; empty for any other node."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "{}" for part in node.values)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if is_text else ""


def sentences_in(source: str) -> list[str]:
    """Return the string literals of three words or more outside docstrings and errors."""
    tree = ast.parse(source)
    exempt = {id(node) for node in parts_without_sentences(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            exempt.update(map(id, node.values))
    texts = (text_of(node) for node in ast.walk(tree) if id(node) not in exempt)
    return [text for text in texts if " " in text and len(WORD.findall(text)) >= MIN_WORDS]


@pytest.mark.parametrize(
    "module",
    sorted(SEARCH.rglob("*.py")),
    ids=lambda path: str(path.relative_to(SEARCH).with_suffix("")),
)
def test_search_module_contains_no_sentences(module: Path) -> None:
    assert sentences_in(module.read_text()) == []


def test_literals_in_docstrings_and_errors_are_exempt() -> None:
    source = (
        '"""One two three."""\nx = 1\n"""One two three."""\nraise ValueError("one two three")\n'
    )
    assert sentences_in(source) == []


@pytest.mark.parametrize("literal", ['"one two three"', 'f"one {x} two three"'])
def test_sentence_outside_docstrings_is_found(literal: str) -> None:
    assert len(sentences_in(f"x = {literal}")) == 1
