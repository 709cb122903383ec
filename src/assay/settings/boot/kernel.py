"""``boot.kernel``: release of the kernel that runs.

The value is the release that ``uname -r`` prints. Evidence: *seen*, in
``/proc/sys/kernel/osrelease``, which is read before and after each launch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.document import Machine
from assay.records import (
    AnyText,
    Configuration,
    Domain,
    Level,
    Value,
)
from assay.settings.base import Pending, Refused, Resolved
from assay.settings.boot.common import (
    ANY_READING,
    BOOT,
    KERNEL_READING,
    BootSetting,
    FileEvidence,
    booted_action,
)
from assay.settings.value_text import format_value

NAME = f"{BOOT}.kernel"
"""A reserved name: the kernel has no argument of that name."""
RELEASE = "/proc/sys/kernel/osrelease"
_RELEASE = re.compile(r"[0-9]+\.[0-9]+[A-Za-z0-9._+~-]{0,58}", re.ASCII)
"""``uname(2)`` has room for 64 characters; releases since 3.0 have three numbers."""


@dataclass(frozen=True)
class BootKernel(BootSetting):
    """The release of the running kernel."""

    name: str = NAME
    summary: str = "kernel to run: its release, as uname -r prints it"
    evidence: Level = Level.SEEN

    @property
    def arguments(self) -> frozenset[str]:
        """Names of its boot arguments: none."""
        return frozenset()

    @property
    def changes(self) -> tuple[str, ...]:
        """Readings of the machine that it may change: any."""
        return (ANY_READING, KERNEL_READING)

    def words(self, value: Value) -> tuple[str, ...]:
        """Return the words on the kernel's command line for a value: none."""
        return ()

    def is_same_value(self, value: Value, other: Value) -> bool:
        """Return whether two values are equal."""
        return format_value(value) == format_value(other)

    def domain(self, machine: Machine) -> Domain:
        """Return any release."""
        return AnyText("release of an installed kernel, as uname -r prints it")

    def default(self, machine: Machine) -> Value | None:
        """Return the release of the running kernel."""
        return machine.kernel or None

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """Compare the running kernel with the requested one.

        Raises:
            InvalidInputError: the value is not a release.
        """
        value = format_value(config[self.name])
        if not _RELEASE.fullmatch(value):
            here = machine.kernel or "6.1.0-18-amd64"
            raise InvalidInputError(
                f"Invalid release of a kernel: {self.name}={value!r}.",
                f"Write the release that uname -r prints under that kernel, for example {here}.",
            )
        if value != machine.kernel:
            here = machine.kernel or "nothing"
            return Pending(f"uname -r prints {here}, not {value}", running=here)
        proof = FileEvidence(RELEASE, machine.kernel, fits=True, wanted=repr(value))
        needs, seen = f"a boot of the kernel {value}", f"uname -r prints {value}"
        return Resolved((booted_action(self.name, needs, seen, [proof]),))
