"""``limit.NAME``: resource limits of every process of the program.

Interface: ``setrlimit(2)``, inherited over fork and exec. The soft limit is set; the hard limit
changes only if it has to be raised. Evidence: *set*.
"""

from __future__ import annotations

import re
from typing import ClassVar

from assay.errors import InvalidInputError, nearest
from assay.machine.document import Machine
from assay.machine.root import LIVE, Root
from assay.records import (
    AnyText,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    Rlimit,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import granted, refused, step_accepted, unverified
from assay.units import parse_bytes

FAMILY = "limit"

# Names in /proc/PID/limits (fs/proc/base.c, lnames).
_LIMIT_NAMES = {
    "as": "Max address space",
    "core": "Max core file size",
    "cpu": "Max cpu time",
    "data": "Max data size",
    "fsize": "Max file size",
    "locks": "Max file locks",
    "memlock": "Max locked memory",
    "msgqueue": "Max msgqueue size",
    "nice": "Max nice priority",
    "nofile": "Max open files",
    "nproc": "Max processes",
    "rss": "Max resident set",
    "rtprio": "Max realtime priority",
    "rttime": "Max realtime timeout",
    "sigpending": "Max pending signals",
    "stack": "Max stack size",
}
_UNLIMITED = "unlimited"
_DOMAIN = AnyText(f"a number in the kernel's unit, a size such as 8M, or {_UNLIMITED}")
_BYTES = frozenset({"as", "core", "data", "fsize", "memlock", "msgqueue", "rss", "stack"})


class ResourceLimit(BaseSetting, frozen=True):
    """``limit.NAME``, such as ``limit.nofile``; exists once it is named."""

    resource: str
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = "only the user knows the needs of the program"
    root: Root = LIVE
    """Root of the file with the current limits."""

    def __post_init__(self) -> None:
        if self.resource not in _LIMIT_NAMES:
            near = nearest(self.resource, tuple(_LIMIT_NAMES))
            raise InvalidInputError(
                f"Unknown resource limit: {self.resource!r}.",
                f"Did you mean {FAMILY}.{near}?" if near else f"Limits: {', '.join(_LIMIT_NAMES)}.",
            )

    @property
    def name(self) -> str:
        """Name with its family."""
        return f"{FAMILY}.{self.resource}"

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"resource limit RLIMIT_{self.resource.upper()}"

    def domain(self, machine: Machine) -> Domain:
        """Return numbers, sizes and ``unlimited``."""
        return _DOMAIN

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a soft limit; above the hard limit only with the required capability.

        Raises:
            InvalidInputError: the value is neither a number nor a size.
        """
        soft = self._number(config[self.name])
        hard = self._hard()
        if hard is None or (soft is not None and soft <= hard):
            return Resolved((Rlimit(resource=self.resource, soft=soft, hard=hard),))
        if "CAP_SYS_RESOURCE" in machine.rights.capabilities and not machine.rights.user_namespace:
            return Resolved((Rlimit(resource=self.resource, soft=soft, hard=soft),))
        return Refused(
            f"{self.name}={config[self.name]} exceeds the hard limit {hard}, and raising it needs"
            " CAP_SYS_RESOURCE",
            "Run as root, or raise the hard limit: `ulimit -H`, or limits.conf(5).",
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the kernel accepted the limit."""
        value = config[self.name]
        match step_accepted(facts, f"rlimits.{self.resource}"):
            case None:
                return unverified(value, "the launch ended before this step")
            case False:
                return refused(value, Level.SET, "the kernel rejected it")
            case True:
                return granted(value, Level.SET)

    def _number(self, value: Value) -> int | None:
        if value == _UNLIMITED:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, str) and self.resource in _BYTES:
            return parse_bytes(value)
        raise InvalidInputError(f"Invalid value: {self.name}={value!r}.", f"Use {_DOMAIN}.")

    def _hard(self) -> int | None:
        """Return the hard limit; ``None`` if there is none or it cannot be read."""
        text = self.root.read_text("/proc/self/limits") or ""
        match = re.search(rf"^{_LIMIT_NAMES[self.resource]}\s+\S+\s+(\S+)", text, re.M)
        return int(match[1]) if match and match[1].isdigit() else None
