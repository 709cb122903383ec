"""Expressions over settings: constraints and ``when`` conditions.

A small, closed subset of Python's expression syntax. This module interprets it without ``eval``, so
that a space file cannot contain executable code. A dotted name is a setting. A setting that is not
set has no value, and a comparison with it is *unknown*.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import InvalidInputError
from assay.records import Value
from assay.wording.space import EXPRESSION_EXAMPLE

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class _UnknownError(Exception):
    """The value depends on a setting that is not set."""


class Expression:
    """A parsed expression.

    Raises:
        InvalidInputError: a syntax error, or syntax other than comparisons, arithmetic and
            and/or/not.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
            self.names: frozenset[str] = frozenset(self._collect(self._tree))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InvalidInputError(
                f"{_short(text)} is not an expression.", EXPRESSION_EXAMPLE
            ) from error

    def _collect(self, node: ast.expr) -> set[str]:
        match node:
            case ast.Constant(value=str() | int() | float()):
                return set()
            case ast.Name() | ast.Attribute():
                return {self._dotted(node)}
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                return set().union(*(self._collect(part) for part in parts))
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
                return self._collect(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._collect(left) | self._collect(right)
            case ast.Compare(left=left, ops=ops, comparators=rest) if all(
                type(op) in _COMPARE for op in ops
            ):
                return set().union(*(self._collect(part) for part in (left, *rest)))
            case _:
                raise InvalidInputError(
                    f"{ast.unparse(node)!r} in {self.text!r} is not allowed in an expression.",
                    EXPRESSION_EXAMPLE,
                )

    def _dotted(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=value, attr=attr):
                return f"{self._dotted(value)}.{attr}"
            case _:
                raise InvalidInputError(
                    f"{ast.unparse(node)!r} is not a setting.", EXPRESSION_EXAMPLE
                )

    def holds(self, values: Mapping[str, Value], *, unknown: bool) -> bool:
        """Evaluate the expression for ``values``; return ``unknown`` if an absent setting decides.

        Raises:
            InvalidInputError: incompatible operands, for example a number and a string.
        """
        try:
            return bool(self._value(self._tree, values))
        except _UnknownError:
            return unknown
        except (TypeError, ArithmeticError, RecursionError) as error:
            raise InvalidInputError(
                f"{self.text!r} cannot be evaluated: {error}.", EXPRESSION_EXAMPLE
            ) from error

    def _value(self, node: ast.expr, values: Mapping[str, Value]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                name = self._dotted(node)
                if name not in values:
                    raise _UnknownError
                return values[name]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(part, values) for part in parts]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand, values)
            case ast.UnaryOp(operand=operand):
                return -self._number(operand, values)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._number(left, values), self._number(right, values)
                return _ARITHMETIC[type(op)](a, b)
            case ast.BoolOp(op=op, values=parts):
                return self._connect(isinstance(op, ast.And), parts, values)
            case ast.Compare(left=left, ops=ops, comparators=rest):
                terms = [self._value(part, values) for part in (left, *rest)]
                return all(
                    _COMPARE[type(op)](a, b)
                    for op, a, b in zip(ops, terms, terms[1:], strict=False)
                )
        raise AssertionError(f"unchecked node {node!r}")

    def _number(self, node: ast.expr, values: Mapping[str, Value]) -> int | float:
        """Return an operand of arithmetic; strings are not numbers, unlike in Python."""
        value = self._value(node, values)
        if isinstance(value, int | float):
            return value
        raise TypeError(f"{value!r} is not a number")

    def _connect(
        self, conjunction: bool, parts: list[ast.expr], values: Mapping[str, Value]
    ) -> bool:
        """Combine and/or in three-valued logic: a known operand can decide despite unknown ones."""
        unknown = False
        for part in parts:
            try:
                if bool(self._value(part, values)) is not conjunction:
                    return not conjunction
            except _UnknownError:
                unknown = True
        if unknown:
            raise _UnknownError
        return conjunction


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
