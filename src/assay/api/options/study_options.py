"""Values of the options that studies share: budget, margin, precision, verdicts and warm-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.api.files.space_file import read_space
from assay.api.options.option_values import parse_count, parse_quantity
from assay.errors import InvalidInputError, nearest
from assay.machine.document import Machine
from assay.records import Budget, Parameter, Space
from assay.records.study import DEFAULT_DISTURBED_ABOVE
from assay.requests.study import DEFAULT_BUDGET_S, MAX_WARMUP
from assay.search.space.expression import Expression
from assay.settings.domain_text import parse_domain
from assay.settings.registry import Registry
from assay.units import parse_duration_s, parse_share

MAX_LAUNCHES = 1_000_000
"""Largest number of launches of a study: ten times the size that its verbs are made for."""
NEVER = "never"
"""Value of ``--disturbed-above`` that counts every block as undisturbed."""


def parse_budget(time: str | None, launches: str | None) -> Budget:
    """Return the budget of ``--budget`` and ``--runs``; without limits if both are absent.

    Raises:
        InvalidInputError: an invalid duration, or an invalid number of launches.
    """
    return Budget(
        time_s=parse_quantity("--budget", time, parse_duration_s) if time else None,
        launches=(
            parse_count(
                "--runs",
                launches,
                MAX_LAUNCHES,
                "launches",
                "--runs 100",
                larger="Divide the measurement into several studies.",
            )
            if launches
            else None
        ),
    )


def budget_or_default(budget: Budget) -> Budget:
    """Return a budget, or ten minutes if it has no limit."""
    return Budget(time_s=DEFAULT_BUDGET_S) if budget == Budget() else budget


def parse_margin(text: str | None) -> float | None:
    """Return the share of ``--margin``; ``None`` without the option.

    Raises:
        InvalidInputError: an invalid share.
    """
    return parse_quantity("--margin", text, parse_share) if text else None


def parse_precision(text: str | None) -> float | None:
    """Return the share of ``--precision``; ``None`` without the option.

    Raises:
        InvalidInputError: an invalid share.
    """
    return parse_quantity("--precision", text, parse_share) if text else None


def parse_gate(text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the verdicts of ``--fail-if``.

    Args:
        text: value of the option.
        known: verdicts of the verb.

    Raises:
        InvalidInputError: an unknown verdict.
    """
    words = tuple(text.split(",")) if text else ()
    for word in words:
        if word not in known:
            near = nearest(word, tuple(known))
            raise InvalidInputError(
                f"--fail-if: unknown verdict {word!r}.",
                f"Did you mean {near}?" if near else f"Write one of {', '.join(known)}.",
            )
    return words


def parse_disturbed_above(text: str | None, env: Mapping[str, str]) -> float | None:
    """Return the share of ``--disturbed-above``; ``None`` counts every block as undisturbed.

    Args:
        text: value of the option; ``None`` for that of ASSAY_DISTURBED_ABOVE or the default.
        env: environment.

    Raises:
        InvalidInputError: an invalid share.
    """
    text = text or env.get("ASSAY_DISTURBED_ABOVE")
    if not text:
        return DEFAULT_DISTURBED_ABOVE
    if text == NEVER:
        return None
    try:
        return parse_quantity("--disturbed-above", text, parse_share)
    except InvalidInputError as error:
        raise InvalidInputError(error.cause, "Write for example 25%, or never.") from error


def parse_warmup(text: str | None) -> int | None:
    """Return the number of warm-up launches; ``None`` for the default of the verb.

    Without warm-up launches the first launch still checks that the program works.

    Raises:
        InvalidInputError: an invalid number.
    """
    if text is None or text == "auto":
        return None
    if text.strip() == "0":
        return 0
    return parse_count("--warmup", text, MAX_WARMUP, "launches", "--warmup 3")


def resolve_space(
    settings: Sequence[str],
    space_file: str | None,
    constraints: Sequence[str],
    registry: Registry,
    machine: Machine,
) -> Space:
    """Return the search space of a request on a machine; empty if it names no setting.

    Args:
        settings: settings, each as ``SETTING=DOMAIN``.
        space_file: path of a space file; ``None`` for none.
        constraints: expressions that every configuration satisfies.
        registry: known settings.
        machine: machine that determines the domains.

    Raises:
        InvalidInputError: an unknown setting, value or key, or two domains of a setting.
    """
    parameters: list[Parameter] = []
    constraints = list(constraints)
    parsed = read_space(space_file, registry, machine) if space_file else None
    if parsed is not None:
        parameters += [*parsed.named_parameters, *parsed.space.parameters]
        constraints += parsed.space.constraints
    parameters += [parse_domain(text, registry, machine) for text in settings]
    names = [p.name for p in parameters]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"{name} is given twice.", "Give each setting one domain.")
    if parsed is not None:
        parsed.demand_sound(tuple(parameters))
    for text in constraints:
        Expression(text)
    named = parsed.space.named_configurations if parsed is not None else ()
    return Space(
        parameters=tuple(parameters), constraints=tuple(constraints), named_configurations=named
    )
