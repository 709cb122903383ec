"""Forms in which a program may print the values of its settings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from assay.machine.cpulist import format_list
from assay.records import Configuration, Plan
from assay.records.action import EnvSet, Preload
from assay.records.configuration import show_value
from assay.records.shell import typed_text

COMMAND = "command"
"""Name of the setting of an arm with a separate command."""
_LETTER = re.compile(r"\w")
_JOINED = re.compile(r"-[A-Za-z](\w+)")
"""A short option with an attached value."""


def printed_words(command: str) -> frozenset[str]:
    """Return the words of a command as its program may print them.

    They include each word, the word without leading hyphens, the value after ``=`` or attached to a
    short option, the last part of a path, and the words of a text for a shell.

    Args:
        command: the command as one text, in shell syntax.
    """
    text = typed_text(command)
    found: set[str] = set()
    for word in split_text(text):
        value = word.partition("=")[2]
        joined = _JOINED.fullmatch(word)
        bare = word.lstrip("-")
        named = [bare] if len(bare) > 1 or bare == word else []
        parts = (word, *named, value, joined[1] if joined else "")
        forms = (form for part in parts for form in (part, PurePath(part).name))
        found.update(form for form in forms if _LETTER.search(form))
        if word != text and len(word.split()) > 1:
            found |= printed_words(word)
    return frozenset(found)


def differing_words(commands: Sequence[str]) -> frozenset[str]:
    """Return the words that not all of the commands have.

    Args:
        commands: commands as for ``printed_words``.
    """
    each = [printed_words(command) for command in commands]
    return frozenset().union(*each) - frozenset.intersection(*each) if each else frozenset()


def printed_cpu_forms(cpus: Iterable[int]) -> frozenset[str]:
    """Return the forms in which a program may print a set of CPUs and nothing else."""
    numbers = sorted(set(cpus))
    if not numbers:
        return frozenset()
    listed = ", ".join(map(str, numbers))
    bracketed = {f"{left}{listed}{right}" for left, right in ("{}", "[]", "()")}
    forms = {format_list(numbers), listed.replace(" ", ""), *bracketed}
    return frozenset(form for form in forms if not form.isdecimal())


def printed_values(
    configuration: Configuration, plan: Plan, varied: Iterable[str]
) -> frozenset[str]:
    """Return the values of a launch, as its program may print them.

    Args:
        configuration: configuration of the launch.
        plan: its plan, with paths and CPUs.
        varied: values of all arms, which select the relevant words of a command.
    """
    found = {show_value(value) for name, value in configuration.items() if name != COMMAND}
    found.update(a.value for a in plan.actions if isinstance(a, EnvSet))
    found.update(a.path for a in plan.actions if isinstance(a, Preload))
    if plan.cpus:
        mask = f"{sum(1 << cpu for cpu in set(plan.cpus)):x}"
        found |= printed_cpu_forms(plan.cpus) | {format_list(plan.cpus), mask, f"0x{mask}"}
    if COMMAND in configuration:
        found |= printed_words(str(configuration[COMMAND])) & set(varied)
    return frozenset(filter(None, found))


def split_text(text: str) -> list[str]:
    """Return the words of a text in shell syntax; split at blanks if the syntax is invalid."""
    try:
        return shlex.split(text)
    except ValueError:  # a text for a shell may be arbitrary
        return text.split()
