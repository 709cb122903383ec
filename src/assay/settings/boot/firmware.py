"""``firmware.NAME``: an entry of the firmware's menu.

``snc``, ``nps``, ``smt`` and ``memory`` are visible in the topology (evidence: *seen*). No other
entry can be read: the user states its value (*set*), or names a file or a command that shows it
(*seen*).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import (
    AnyText,
    Configuration,
    Domain,
    Level,
    RequiredBoot,
    Scope,
    Value,
)
from assay.settings.base import Pending, Refused, Resolved
from assay.settings.boot.common import (
    ANY_READING,
    BOOT_S,
    FIRMWARE,
    KERNEL_READING,
    BootSetting,
)
from assay.settings.value_text import format_value, parse_value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KERNEL = "kernel"
"""``firmware.kernel``: a kernel with any name, which a file or a command reports (``--verify``)."""


def _nodes_each(machine: Machine) -> str | None:
    """Return the NUMA nodes with CPUs per package; 0 if one node spans several packages (NPS0)."""
    nodes = sum(bool(node.cpus) for node in machine.nodes)
    packages = len({cpu.package for cpu in machine.cpus})
    if not nodes or not packages:
        return None
    if nodes == 1 and packages > 1:
        return "0"
    return str(nodes // packages) if nodes % packages == 0 else None


def _smt(machine: Machine) -> str | None:
    """Return ``off`` if no core has a second thread and the kernel cannot enable one."""
    if any(len(cpu.siblings) > 1 for cpu in machine.cpus):
        return "on"
    control = machine.boot.files.get("/sys/devices/system/cpu/smt/control")
    return "off" if control in ("notsupported", "notimplemented") else None


def _memory(machine: Machine) -> str | None:
    """Return ``flat`` if high-bandwidth memory is a separate node, ``cache`` if none is visible."""
    kinds = {node.kind for node in machine.nodes}
    return "flat" if "hbm" in kinds and len(machine.nodes) > 1 else "cache"


@dataclass(frozen=True)
class _Observable:
    summary: str
    read: Callable[[Machine], str | None]
    values: tuple[str, ...]
    quantity: str


_SNC = "NUMA nodes for each package"
_OBSERVABLE = {
    "snc": _Observable(f"sub-NUMA clustering: {_SNC}", _nodes_each, ("1", "2", "3", "4"), _SNC),
    "nps": _Observable(f"nodes per socket: {_SNC}", _nodes_each, ("0", "1", "2", "4"), _SNC),
    "smt": _Observable("threads per core", _smt, ("on", "off"), "threads per core"),
    "memory": _Observable(
        "high-bandwidth memory as separate nodes (flat) or as a cache",
        _memory,
        ("flat", "cache"),
        "high-bandwidth memory among the nodes",
    ),
}


@dataclass(frozen=True)
class FirmwareSetting(BootSetting):
    """An entry of the firmware's menu."""

    own_name: str
    scope: ClassVar[Scope] = Scope.FIRMWARE
    switch_cost_s: ClassVar[float] = 2.0 * BOOT_S

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.own_name):
            raise InvalidInputError(
                f"Invalid name of a firmware setting: {self.own_name!r}.",
                "Names consist of letters, digits and underscores, and do not begin with a digit.",
            )

    @property
    def name(self) -> str:
        """Name on the command line."""
        return f"{FIRMWARE}.{self.own_name}"

    @property
    def summary(self) -> str:
        """One-line description."""
        seen = _OBSERVABLE.get(self.own_name)
        return f"firmware: {seen.summary if seen else self.own_name}"

    @property
    def evidence(self) -> Level:
        """*Seen* if the topology shows it."""
        return Level.SEEN if self.own_name in _OBSERVABLE else Level.SET

    @property
    def is_seen(self) -> bool:
        """True if the topology shows it."""
        return self.own_name in _OBSERVABLE

    @property
    def arguments(self) -> frozenset[str]:
        """Names of its boot arguments: none."""
        return frozenset()

    @property
    def changes(self) -> tuple[str, ...]:
        """Readings of the machine that it may change: any; for ``kernel`` also the release."""
        return (ANY_READING, KERNEL_READING) if self.own_name == _KERNEL else (ANY_READING,)

    def words(self, value: Value) -> tuple[str, ...]:
        """Return the words on the kernel's command line: none."""
        return ()

    def is_same_value(self, value: Value, other: Value) -> bool:
        """Return whether two values are equal."""
        return format_value(value) == format_value(other)

    def domain(self, machine: Machine) -> Domain:
        """Return any value of the menu."""
        seen = _OBSERVABLE.get(self.own_name)
        return AnyText(
            f"one of {', '.join(seen.values)}" if seen else "a value of the firmware's menu"
        )

    def default(self, machine: Machine) -> Value | None:
        """Return the current value, if it is known."""
        found = self._found(machine)
        return None if found is None else parse_value(found)

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """Return the evidence of the present boot, or the required change.

        Raises:
            InvalidInputError: an entry that the topology shows cannot have the value.
        """
        value = format_value(config[self.name])
        seen = _OBSERVABLE.get(self.own_name)
        if seen is not None and value not in seen.values:
            raise InvalidInputError(
                f"Invalid value: {self.name}={value}.", f"Allowed values: {', '.join(seen.values)}."
            )
        found = self._found(machine)
        if found != value:
            return Pending(self._missing(value, machine), firmware={self.own_name: value})
        witness = machine.boot.firmware_sources.get(self.name)
        observed = (
            f"{seen.quantity}: {found}" if seen else f"{witness or 'the user'} reports {found}"
        )
        needs = f"{self.own_name}={value} in the firmware's menu"
        shown = seen is not None or witness is not None
        return Resolved(
            (
                RequiredBoot(
                    setting=self.name, requirement=needs, observed=observed, effect_observed=shown
                ),
            )
        )

    def _found(self, machine: Machine) -> str | None:
        seen = _OBSERVABLE.get(self.own_name)
        return machine.boot.firmware.get(self.name) if seen is None else seen.read(machine)

    def _missing(self, value: str, machine: Machine) -> str:
        found = self._found(machine)
        seen = _OBSERVABLE.get(self.own_name)
        if seen is not None:
            return f"{seen.quantity}: {found or 'unknown'}, not {value}"
        if found is None:
            return f"no confirmation that it is {value}"
        source = machine.boot.firmware_sources.get(self.name, "the user")
        return f"{source} reports {found}, not {value}"
