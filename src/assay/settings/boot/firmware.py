"""``firmware.NAME``: what only the menu of the firmware changes.

``snc``, ``nps``, ``smt`` and ``memory`` show in the topology (evidence: *seen*). Nobody can read
any other: the user says what it is (*set*), or names a file or a command that does (*seen*).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.document import Machine, Program
from assay.records import (
    AnyText,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    RequiredBoot,
    RunFacts,
    Scope,
    Value,
)
from assay.settings.base import Pending, Refused, Resolved, Suggestion
from assay.settings.boot.common import (
    ANY_READING,
    BOOT_S,
    FIRMWARE,
    KERNEL_READING,
    ONLY_ON_REQUEST,
    judge_booted,
)
from assay.settings.value_text import format_value, parse_value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KERNEL = "kernel"
"""``firmware.kernel``: a kernel by any name, which a file or a command tells (``--verify``)."""
_NODES = "/sys/devices/system/node"


def _nodes_each(machine: Machine) -> str | None:
    """NUMA nodes with CPUs for each package; 0 where one spans several packages (NPS0)."""
    nodes = sum(bool(node.cpus) for node in machine.nodes)
    packages = len({cpu.package for cpu in machine.cpus})
    if not nodes or not packages:
        return None
    if nodes == 1 and packages > 1:
        return "0"
    return str(nodes // packages) if nodes % packages == 0 else None


def _smt(machine: Machine) -> str | None:
    """Off where no core has a second thread and the kernel could not switch one on."""
    if any(len(cpu.siblings) > 1 for cpu in machine.cpus):
        return "on"
    control = machine.boot.found.get("/sys/devices/system/cpu/smt/control")
    return "off" if control in ("notsupported", "notimplemented") else None


def _memory(machine: Machine) -> str | None:
    """Flat where high-bandwidth memory is a node of its own, cache where none of it shows."""
    kinds = {node.kind for node in machine.nodes}
    return "flat" if "hbm" in kinds and len(machine.nodes) > 1 else "cache"


@dataclass(frozen=True)
class _Seen:
    summary: str
    of: Callable[[Machine], str | None]
    values: tuple[str, ...]
    where: str


_SNC = "NUMA nodes for each package"
_SEEN = {
    "snc": _Seen(f"sub-NUMA clustering, as {_SNC}", _nodes_each, ("1", "2", "3", "4"), _SNC),
    "nps": _Seen(f"nodes per socket, as {_SNC}", _nodes_each, ("0", "1", "2", "4"), _SNC),
    "smt": _Seen("threads of each core", _smt, ("on", "off"), "threads of each core"),
    "memory": _Seen(
        "high-bandwidth memory as nodes of its own, or as a cache",
        _memory,
        ("flat", "cache"),
        "high-bandwidth memory among the nodes",
    ),
}


@dataclass(frozen=True)
class FirmwareSetting:
    """One entry of the firmware's menu."""

    own_name: str
    scope: Scope = Scope.FIRMWARE
    switch_cost_s: float = 2.0 * BOOT_S

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.own_name):
            raise InvalidInputError(
                f"{self.own_name!r} is not the name of a firmware setting.",
                "Names hold letters, digits and underscores, and begin with no digit.",
            )

    @property
    def name(self) -> str:
        """As it is written."""
        return f"{FIRMWARE}.{self.own_name}"

    @property
    def summary(self) -> str:
        """What it does."""
        seen = _SEEN.get(self.own_name)
        return f"firmware: {seen.summary if seen else self.own_name}"

    @property
    def evidence(self) -> Level:
        """*Seen* where the topology shows it."""
        return Level.SEEN if self.own_name in _SEEN else Level.SET

    @property
    def is_seen(self) -> bool:
        """Whether the machine itself shows it."""
        return self.own_name in _SEEN

    @property
    def arguments(self) -> frozenset[str]:
        """It has no words on the command line."""
        return frozenset()

    @property
    def changes(self) -> tuple[str, ...]:
        """Readings of the machine that it may change: any; of ``kernel`` its release as well."""
        return (ANY_READING, KERNEL_READING) if self.own_name == _KERNEL else (ANY_READING,)

    def words(self, value: Value) -> tuple[str, ...]:
        """Nothing stands on the command line for it."""
        return ()

    def alike(self, one: Value, other: Value) -> bool:
        """Whether two values are the same."""
        return format_value(one) == format_value(other)

    def domain(self, machine: Machine) -> Domain:
        """Whatever the menu offers."""
        seen = _SEEN.get(self.own_name)
        return AnyText(f"one of {', '.join(seen.values)}" if seen else "what the menu offers")

    def default(self, machine: Machine) -> Value | None:
        """What it is now, where that is known."""
        found = self._found(machine)
        return None if found is None else parse_value(found)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Never unasked."""
        return ONLY_ON_REQUEST

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """What the present boot has of it.

        Raises:
            InvalidInputError: a value that one which is seen cannot have.
        """
        value = format_value(config[self.name])
        seen = _SEEN.get(self.own_name)
        if seen is not None and value not in seen.values:
            raise InvalidInputError(
                f"{self.name}={value} cannot be.", f"It takes {', '.join(seen.values)}."
            )
        found = self._found(machine)
        if found != value:
            return Pending(self._missing(value, machine), firmware={self.own_name: value})
        witness = machine.boot.witnesses.get(self.name)
        told = f"{seen.where}: {found}" if seen else f"{witness or 'the user'} says {found}"
        needs = f"{self.own_name}={value} in the menu of the firmware"
        shown = seen is not None or witness is not None
        return Resolved((RequiredBoot(setting=self.name, needs=needs, observed=told, shown=shown),))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By what showed it."""
        return judge_booted(self.name, config[self.name], facts, plan)

    def _found(self, machine: Machine) -> str | None:
        seen = _SEEN.get(self.own_name)
        return machine.boot.said.get(self.name) if seen is None else seen.of(machine)

    def _missing(self, value: str, machine: Machine) -> str:
        found = self._found(machine)
        seen = _SEEN.get(self.own_name)
        if seen is not None:
            return f"{seen.where}: {found or 'cannot be told'}, not {value}"
        if found is None:
            return f"nobody has said that it is {value}"
        return f"{machine.boot.witnesses.get(self.name, 'the user')} says {found}, not {value}"
