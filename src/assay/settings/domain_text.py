r"""Domains and values as text on the command line.

``name=a,b,c`` is a list; ``name=lo..hi`` and ``name=lo..hi:step`` are numbers; ``name=lo..hi:log2``
powers (``:log10`` too, and ``:log`` without steps). A value with a comma is double-quoted inside a
domain; a quoted value is a text, in which ``\"`` and ``\\`` are escapes.
"""

from __future__ import annotations

import re

import msgspec

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import (
    AnyText,
    Choices,
    Configuration,
    Domain,
    Parameter,
    Range,
    Value,
    check,
)
from assay.records.configuration import is_number
from assay.settings.base import Setting
from assay.settings.registry import Registry
from assay.settings.value_text import parse_value

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::(.*))?")
_INTEGER = re.compile(r"[-+]?\d+")
_LOG = re.compile(r"log(\d*)")
_MAX_LISTED = 100_000
"""Maximum number of values of a range, far above any study: a mistyped range is rejected."""

_DOMAIN_FORM = "SETTING=VALUE,VALUE or SETTING=LOW..HIGH"
_FIRST_IS_DEFAULT = ("arg.", "env.", "build.")
_MAY_BE_EMPTY = "build."
"""Family whose values may be empty: a compiler flag that is left out."""


class _Item(msgspec.Struct, frozen=True):
    text: str
    quoted: bool


def parse_domain(text: str, registry: Registry, machine: Machine) -> Parameter:
    """Return the parameter of ``name=domain``.

    Raises:
        InvalidInputError: unknown setting, invalid domain, or a value that the setting does not
            support.
    """
    name, written = _halves(text, _DOMAIN_FORM)
    setting = registry.get(name)
    may_be_empty = name.startswith(_MAY_BE_EMPTY)
    if not (written or may_be_empty):
        raise InvalidInputError(
            f"The value of {name} is missing.", f'Write {_DOMAIN_FORM}, or "" for an empty text.'
        )
    items = _items(written, text, empty=may_be_empty)
    whole = items[0].text
    if len(items) == 1 and not items[0].quoted and (match := _RANGE.fullmatch(whole)):
        requested = _range(match, text)
        _check_range(setting, requested, machine)
        domain: Domain = requested
    else:
        _refuse_ranges(items, text)
        options = tuple(_value(setting, item, machine) for item in items)
        _refuse_twice(options, text)
        domain = Choices(options, ordered=all(is_number(option) for option in options))
    return Parameter(name=name, domain=domain, default=_default(setting, domain, machine))


def parse_range(text: str) -> Range:
    """Return the range of ``low..high``, with a step or a scale if given.

    Raises:
        InvalidInputError: the text is not a range.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        raise InvalidInputError(f"{text!r} is not a range.", "Write LOW..HIGH.")
    return _range(match, text)


def _refuse_ranges(items: list[_Item], text: str) -> None:
    """Reject a range within a list, which would otherwise be taken as a text."""
    for item in items:
        if len(items) > 1 and not item.quoted and _RANGE.fullmatch(item.text):
            raise InvalidInputError(
                f"{text!r} mixes a list with the range {item.text}.",
                "Write all values, or the range alone; quote it if it is a text.",
            )


def parse_assignment(text: str, registry: Registry, machine: Machine) -> tuple[str, Value]:
    """Return setting and value of ``name=value``; a comma is part of the value.

    Raises:
        InvalidInputError: unknown setting, or a value that it does not support; several values.
    """
    name, written = _halves(text, "SETTING=VALUE")
    setting = registry.get(name)
    items = _items(written, text) if written.startswith('"') else [_Item(written, False)]
    item = items[0] if len(items) == 1 else _Item(written, False)
    try:
        return name, _value(setting, item, machine)
    except InvalidInputError as error:
        if not _has_several_values(text, registry, machine):
            raise
        raise InvalidInputError(
            f"{name} takes one value here, not {written!r}.",
            "`assay tune` takes several values; `assay compare` takes one `--arm` for each.",
        ) from error


def _has_several_values(text: str, registry: Registry, machine: Machine) -> bool:
    """Return whether a text is a valid domain of several values."""
    try:
        domain = parse_domain(text, registry, machine).domain
    except InvalidInputError:
        return False
    return isinstance(domain, Range) or (isinstance(domain, Choices) and len(domain.options) > 1)


def _halves(text: str, form: str) -> tuple[str, str]:
    name, mark, written = text.partition("=")
    if not mark or not name.strip():
        raise InvalidInputError(f"{text!r} is not an assignment.", f"Write {form}.")
    return name.strip(), written


def _items(written: str, whole: str, *, empty: bool = False) -> list[_Item]:
    found: list[_Item] = []
    at = 0
    while True:
        item, at = (
            _quoted(written, at, whole) if written[at : at + 1] == '"' else _bare(written, at)
        )
        if not (item.text or item.quoted or empty):
            raise InvalidInputError(
                f"{whole!r} contains an empty value.",
                'Write "" for an empty text, or remove the comma.',
            )
        found.append(item)
        if at == len(written):
            return found
        at += 1


def _bare(written: str, start: int) -> tuple[_Item, int]:
    end = written.find(",", start)
    end = len(written) if end < 0 else end
    return _Item(written[start:end], False), end


def _quoted(written: str, start: int, whole: str) -> tuple[_Item, int]:
    letters: list[str] = []
    at = start + 1
    while at < len(written) and written[at] != '"':
        escaped = written[at] == "\\" and written[at + 1 : at + 2] in ('"', "\\")
        at += escaped
        letters.append(written[at : at + 1])
        at += 1
    end = at + 1
    if at >= len(written) or (end < len(written) and written[end] != ","):
        raise InvalidInputError(
            f"The quotes in {whole!r} do not close at the end of a value.",
            'Write for example cpus="0,2","1,3" (and quote that for the shell).',
        )
    return _Item("".join(letters), True), end


def _value(setting: Setting, item: _Item, machine: Machine) -> Value:
    domain = setting.domain(machine)
    value = _read(item, domain)
    check(setting.name, value, domain)
    if isinstance(domain, AnyText):
        # Raises InvalidInputError for invalid values; the planner reports refusals.
        setting.resolve(Configuration({setting.name: value}), machine)
    return value


def _read(item: _Item, domain: Domain) -> Value:
    if isinstance(domain, Choices):
        return next((o for o in domain.options if str(o) == item.text), item.text)
    if isinstance(domain, AnyText) and item.quoted:
        return item.text
    return parse_value(item.text)


def _range(match: re.Match[str], whole: str) -> Range:
    low_text, high_text, step_text = match.groups()
    low, high = float(low_text), float(high_text)
    integer = all(_INTEGER.fullmatch(t) for t in (low_text, high_text))
    if low > high:
        raise InvalidInputError(
            f"The range {whole!r} is reversed.", f"Write {high_text}..{low_text}."
        )
    if step_text is None:
        found = Range(low, high, step=1 if integer else None, integer=integer)
    elif log := _LOG.fullmatch(step_text):
        found = _log_range(low, high, log[1], integer, whole)
    else:
        found = _step_range(low, high, step_text, integer, whole)
    if found.step is not None and (high - low) / found.step > _MAX_LISTED and not found.log:
        raise InvalidInputError(
            f"{whole!r} has more than {_MAX_LISTED} values.",
            "Add a step, or :log2 for powers of 2.",
        )
    return found


def _log_range(low: float, high: float, base: str, integer: bool, whole: str) -> Range:
    if low <= 0:
        raise InvalidInputError(
            f"{whole!r} begins at {low:g}, which has no logarithm.", "Use a lower bound above 0."
        )
    if base and int(base) < 2:
        raise InvalidInputError(
            f"{whole!r} needs a logarithm base above 1.", "Write :log2 or :log10."
        )
    step = float(base) if base else None
    return Range(low, high, step=step, log=True, integer=integer)


def _step_range(low: float, high: float, text: str, integer: bool, whole: str) -> Range:
    if not re.fullmatch(_NUMBER, text) or float(text) <= 0:
        raise InvalidInputError(
            f"Invalid step {text!r} in {whole!r}.", "Use a number above 0, log2 or log10."
        )
    step = float(text)
    return Range(low, high, step=step, integer=integer and step.is_integer())


def _check_range(setting: Setting, asked: Range, machine: Machine) -> None:
    domain = setting.domain(machine)
    if isinstance(domain, Range) and domain.integer and not asked.integer:
        raise InvalidInputError(
            f"{setting.name} needs integers, not {asked}.", f"Allowed values: {domain}."
        )
    for end in (asked.low, asked.high):
        value: Value = int(end) if asked.integer else end
        check(setting.name, value, domain)
        if isinstance(domain, AnyText):
            setting.resolve(Configuration({setting.name: value}), machine)


def _refuse_twice(options: tuple[Value, ...], whole: str) -> None:
    seen: set[tuple[str, Value]] = set()
    for option in options:
        key = (type(option).__name__, option)
        if key in seen:
            raise InvalidInputError(
                f"{whole!r} contains {option!r} twice.", "List each value once."
            )
        seen.add(key)


def _default(setting: Setting, domain: Domain, machine: Machine) -> Value | None:
    if not setting.name.startswith(_FIRST_IS_DEFAULT):
        return setting.default(machine)
    if isinstance(domain, Choices):
        return domain.options[0]
    if isinstance(domain, Range):
        return int(domain.low) if domain.integer else domain.low
    return None
