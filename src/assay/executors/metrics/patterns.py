"""Patterns: groups of a regular expression, and the literal characters beside a group."""

from __future__ import annotations

import re

_TOKENS = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^]\\])*\]|\(\?P<\w+>|\((?!\?)|\(\?|\)",
    re.DOTALL,
)
"""Tokens of a pattern that are or may contain a parenthesis."""
_SPECIAL = frozenset(".*+?{}[]()|^$\\")
_CLASSES = frozenset("AbBdDsSwWZ0123456789")
"""Letters that stand for a class or assertion after a backslash."""


def figure_and_unit(pattern: re.Pattern[str]) -> tuple[int, int]:
    """Return the numbers of the groups of a figure and of its unit; 0 without one.

    Args:
        pattern: compiled pattern; the unit is the group of that name, or else the second one.
    """
    unit = pattern.groupindex.get("unit", 2 if pattern.groups >= 2 else 0)
    first = 2 if unit == 1 else 1
    return (first if pattern.groups >= first else 0), unit


def span_of_group(pattern: str, number: int) -> tuple[int, int] | None:
    """Return begin and end of the text of a group, without its parentheses.

    Args:
        pattern: valid regular expression.
        number: number of the group, from 1.
    """
    depth, opened = 0, 0
    begin: tuple[int, int] | None = None
    for token in _TOKENS.finditer(pattern):
        text = token[0]
        if text == ")":
            if begin is not None and depth == begin[0]:
                return begin[1], token.start()
            depth -= 1
        elif text.startswith("("):
            depth += 1
            opened += text == "(" or text.startswith("(?P<")
            if opened == number and begin is None:
                begin = depth, token.end()
    return None


def literal_before(pattern: str, number: int) -> str:
    """Return the literal text directly before a group, such as ``0m`` of ``0m([0-9]+)``.

    Args:
        pattern: valid regular expression.
        number: number of the group, from 1.
    """
    place = span_of_group(pattern, number)
    end = pattern.rfind("(", 0, place[0]) if place else 0
    found = ""
    while end > 0:
        escaped = end > 1 and _is_escaped(pattern, end - 1)
        letter = pattern[end - 1]
        if letter in (_CLASSES if escaped else _SPECIAL):
            break
        found = letter + found
        end -= 2 if escaped else 1
    return found


def literal_after(pattern: str, number: int) -> str:
    """Return the literal character directly after a group; empty without one."""
    place = span_of_group(pattern, number)
    rest = pattern[place[1] + 1 : place[1] + 3] if place else ""
    if rest.startswith("\\"):
        return "" if rest[1:] in _CLASSES else rest[1:]
    return "" if rest[:1] in _SPECIAL else rest[:1]


def is_followed_by(pattern: str, number: int, text: str) -> bool:
    """Return whether a pattern names a text, letter by letter, directly after a group.

    Args:
        pattern: valid regular expression.
        number: number of the group, from 1.
        text: text after the group in a match.
    """
    place = span_of_group(pattern, number)
    rest = pattern[place[1] + 1 :] if place else ""
    return rest.replace("\\", "").startswith(text)


def _is_escaped(pattern: str, at: int) -> bool:
    """Return whether an odd number of backslashes stands in front of a character."""
    return (at - len(pattern[:at].rstrip("\\"))) % 2 == 1
