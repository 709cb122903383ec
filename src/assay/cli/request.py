"""From command-line words to a study's specification."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from assay.cli.values import quantity, whole
from assay.errors import BadInput, nearest
from assay.machine.document import Machine
from assay.records import Budget, Configuration, Parameter, Space, Value
from assay.search.expression import Expression
from assay.settings.domain_text import parse_assignment, parse_domain
from assay.settings.registry import Registry
from assay.units import parse_duration_s, parse_share

DEFAULT_BUDGET_S = 600.0
DISTURBED_ABOVE = 0.1
"""Share of the CPUs that others may take during a block that counts."""
MOST_WARMUP = 1000
MOST_LAUNCHES = 10**9
"""Of a study: at a millisecond each it would take twelve days."""


def budget_of(arguments: argparse.Namespace) -> Budget:
    """Time and launches that may be spent; ten minutes where neither was said.

    Raises:
        BadInput: not a duration, or not a number of launches.
    """
    time_s = launches = None
    if arguments.budget:
        time_s = quantity("--budget", arguments.budget, parse_duration_s)
    if arguments.runs:
        launches = whole("--runs", arguments.runs, MOST_LAUNCHES, "launches", "--runs 100")
    if time_s is None and launches is None:
        time_s = DEFAULT_BUDGET_S
    return Budget(time_s=time_s, launches=launches)


def margin_of(arguments: argparse.Namespace) -> float:
    """Differences below it count as none: 1 % unless asked otherwise.

    Raises:
        BadInput: not a share.
    """
    return quantity("--margin", arguments.margin, parse_share) if arguments.margin else 0.01


def precision_of(arguments: argparse.Namespace) -> float | None:
    """Half the interval over the mean at which to stop; the race's own where it was not said.

    Raises:
        BadInput: not a share.
    """
    if not arguments.precision:
        return None
    return quantity("--precision", arguments.precision, parse_share)


NEVER = "never"


def disturbed_above_of(arguments: argparse.Namespace, env: Mapping[str, str]) -> float | None:
    """Share of the CPUs from which on others disturb a block; ``None``: they never do.

    Raises:
        BadInput: no share.
    """
    text = arguments.disturbed_above or env.get("ASSAY_DISTURBED_ABOVE")
    if not text:
        return DISTURBED_ABOVE
    return None if text == NEVER else parse_share(text)


def warmup_of(arguments: argparse.Namespace) -> int | None:
    """Launches before those that count; ``None`` where it was left to assay.

    Raises:
        BadInput: not a number of launches.
    """
    text = arguments.warmup
    if text is None or text == "auto":
        return None
    if not text.isdecimal() or not 0 < int(text) <= MOST_WARMUP:
        raise BadInput(
            f"--warmup {text!r} is not a number of launches.",
            f"Write 1 to {MOST_WARMUP}, or auto: the first launch is never counted.",
        )
    return int(text)


def configuration_of(assignments: list[str], registry: Registry, machine: Machine) -> Configuration:
    """The configuration that ``SETTING=VALUE`` words describe.

    Raises:
        BadInput: an unknown setting or value.
    """
    values: dict[str, Value] = {}
    for text in assignments:
        name, value = parse_assignment(text, registry, machine)
        if name in values:
            raise BadInput(f"{name} is given twice.", "Give each setting one value.")
        values[name] = value
    return Configuration(values)


def space_of(arguments: argparse.Namespace, registry: Registry, machine: Machine) -> Space:
    """The space that words and ``--space`` describe; empty where nothing was named.

    Raises:
        BadInput: an unknown setting, value or key; a setting named twice.
    """
    parameters: list[Parameter] = []
    constraints: list[str] = list(arguments.constraint)
    if arguments.space:
        from_file = _read_space(Path(arguments.space), registry, machine)
        parameters += from_file.parameters
        constraints += from_file.constraints
    parameters += [parse_domain(text, registry, machine) for text in arguments.settings]
    names = [p.name for p in parameters]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"{name} is given twice.", "Give each setting one domain.")
    for text in constraints:
        Expression(text)
    return Space(parameters=tuple(parameters), constraints=tuple(constraints))


def _read_space(path: Path, registry: Registry, machine: Machine) -> Space:
    """A space file: ``[settings]`` with domains, ``constraints`` as a list of expressions."""
    try:
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise BadInput(f"The space file {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"The space file {path} is not TOML: {error}.") from error
    for key in sorted(content.keys() - {"settings", "constraints"}):
        near = nearest(key, ("settings", "constraints"))
        raise BadInput(
            f"{path}: there is no table {key!r}.",
            f"Did you mean {near}?" if near else "It takes [settings] and constraints.",
        )
    settings = content.get("settings", {})
    if not isinstance(settings, dict):
        raise BadInput(f"{path}: settings is not a table.", "Write [settings] above the domains.")
    parameters = [
        _parameter(path, n, e, registry, machine) for n, e in _flattened(settings).items()
    ]
    constraints = content.get("constraints", [])
    if not isinstance(constraints, list) or not all(isinstance(c, str) for c in constraints):
        raise BadInput(
            f"{path}: constraints is not a list of texts.", 'Write constraints = ["..."].'
        )
    for text in constraints:
        with _in(path, "constraints"):
            Expression(text)
    return Space(parameters=tuple(parameters), constraints=tuple(constraints))


def _flattened(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """TOML reads ``omp.bind = "a,b"`` as nested tables; a setting's name is the dotted path."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and not value.keys() & {"domain", "when"}:
            found |= _flattened(value, f"{name}.")
        else:
            found[name] = value
    return found


def _parameter(
    path: Path, name: str, entry: Any, registry: Registry, machine: Machine
) -> Parameter:
    described = entry if isinstance(entry, dict) else {"domain": entry}
    for key in sorted(described.keys() - {"domain", "when"}):
        raise BadInput(f"{path}: settings.{name} has no key {key!r}.", "It takes domain and when.")
    if "domain" not in described:
        raise BadInput(f"{path}: settings.{name} lacks a domain.", 'Write domain = "1..4".')
    with _in(path, f"settings.{name}"):
        parameter = parse_domain(f"{name}={_domain(described['domain'])}", registry, machine)
        if "when" not in described:
            return parameter
        when = str(described["when"])
        Expression(when)
        return msgspec.structs.replace(parameter, when=when)


@contextmanager
def _in(path: Path, key: str) -> Iterator[None]:
    """What is wrong here is wrong in this file, at this key."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{path}: {key}: {error.cause}", error.remedy) from error


def _domain(value: Any) -> str:
    """A domain as it would be written on the command line."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join(_quoted(item) for item in value)
    return _quoted(value)


def _quoted(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and ("," in text or '"' in text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text
