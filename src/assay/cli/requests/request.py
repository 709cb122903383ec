"""From command-line words to a study's specification."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from assay.cli.files.space_file import read_space
from assay.cli.parsing.option_values import parse_count, parse_quantity
from assay.errors import InvalidInputError, nearest
from assay.machine.document import Machine
from assay.records import Budget, Parameter, Space, Statistic
from assay.records.study import DEFAULT_DISTURBED_ABOVE, DEFAULT_MARGIN
from assay.search.space.expression import Expression
from assay.settings.domain_text import parse_domain
from assay.settings.registry import Registry
from assay.stats.spread import EQUIVALENCE_RATIO
from assay.units import parse_duration_s, parse_share

DEFAULT_BUDGET_S = 600.0
MOST_WARMUP = 1000
SPREAD_MARGIN = EQUIVALENCE_RATIO - 1.0
MOST_LAUNCHES = 10**9
"""Of a study: at a millisecond each it would take twelve days."""


def budget_of(arguments: argparse.Namespace) -> Budget:
    """Time and launches that may be spent; ten minutes where neither was said.

    Raises:
        InvalidInputError: not a duration, or not a number of launches.
    """
    time_s = launches = None
    if arguments.budget:
        time_s = parse_quantity("--budget", arguments.budget, parse_duration_s)
    if arguments.runs:
        launches = parse_count("--runs", arguments.runs, MOST_LAUNCHES, "launches", "--runs 100")
    if time_s is None and launches is None:
        time_s = DEFAULT_BUDGET_S
    return Budget(time_s=time_s, launches=launches)


def margin_of(arguments: argparse.Namespace, statistic: Statistic = Statistic.MEAN) -> float:
    """Differences below it count as none: 1 % unless asked otherwise, of spreads 25 %.

    A spread takes thousands of launches to be known to 1 %, and nobody would feel it.

    Raises:
        InvalidInputError: not a share.
    """
    if arguments.margin:
        return parse_quantity("--margin", arguments.margin, parse_share)
    return SPREAD_MARGIN if statistic is Statistic.SPREAD else DEFAULT_MARGIN


def precision_of(arguments: argparse.Namespace) -> float | None:
    """Half the interval over the mean at which to stop; the race's own where it was not said.

    Raises:
        InvalidInputError: not a share.
    """
    if not arguments.precision:
        return None
    return parse_quantity("--precision", arguments.precision, parse_share)


def gate_of(text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """The words of ``--fail-if``.

    Args:
        text: as it was written.
        known: words that mean something to the verb.

    Raises:
        InvalidInputError: one is no verdict.
    """
    words = tuple(text.split(",")) if text else ()
    for word in words:
        if word not in known:
            near = nearest(word, tuple(known))
            raise InvalidInputError(
                f"--fail-if: there is no verdict {word!r}.",
                f"Did you mean {near}?" if near else f"There are {', '.join(known)}.",
            )
    return words


NEVER = "never"


def disturbed_above_of(arguments: argparse.Namespace, env: Mapping[str, str]) -> float | None:
    """Share of the CPUs from which on others disturb a block; ``None``: they never do.

    Raises:
        InvalidInputError: no share.
    """
    text = arguments.disturbed_above or env.get("ASSAY_DISTURBED_ABOVE")
    if not text:
        return DEFAULT_DISTURBED_ABOVE
    if text == NEVER:
        return None
    try:
        return parse_quantity("--disturbed-above", text, parse_share)
    except InvalidInputError as error:
        raise InvalidInputError(error.cause, "Write for example 25%, or never.") from error


def warmup_of(arguments: argparse.Namespace) -> int | None:
    """Launches before those that count; ``None`` where it was left to assay.

    With none the first launch still only shows that the program works.

    Raises:
        InvalidInputError: not a number of launches.
    """
    text = arguments.warmup
    if text is None or text == "auto":
        return None
    if text.strip() == "0":
        return 0
    return parse_count("--warmup", text, MOST_WARMUP, "launches", "--warmup 3")


def space_of(arguments: argparse.Namespace, registry: Registry, machine: Machine) -> Space:
    """The space that words and ``--space`` describe; empty where nothing was named.

    Raises:
        InvalidInputError: an unknown setting, value or key; a setting named twice.
    """
    parameters: list[Parameter] = []
    constraints: list[str] = list(arguments.constraint)
    written = read_space(arguments.space, registry, machine) if arguments.space else None
    if written is not None:
        parameters += [*written.of_named, *written.space.parameters]
        constraints += written.space.constraints
    parameters += [parse_domain(text, registry, machine) for text in arguments.settings]
    names = [p.name for p in parameters]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"{name} is given twice.", "Give each setting one domain.")
    if written is not None:
        written.demand_sound(tuple(parameters))
    for text in constraints:
        Expression(text)
    named = written.space.named if written is not None else ()
    return Space(parameters=tuple(parameters), constraints=tuple(constraints), named=named)
