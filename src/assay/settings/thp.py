"""``thp``: transparent huge pages for this process only.

Interfaces: ``PR_SET_THP_DISABLE`` (prctl(2), Linux 3.15; inherited over fork and exec), its flag
``PR_THP_DISABLE_EXCEPT_ADVISED`` (include/uapi/linux/prctl.h, Linux 6.18), and
``/sys/kernel/mm/transparent_hugepage/enabled`` (Documentation/admin-guide/mm/transhuge.rst). No
call enables huge pages for a process: unless they are enabled system-wide, ``always`` is limited to
the requests of its allocator.

Evidence: *seen*: ``THP_enabled`` in ``/proc/PID/status`` shows ``never``, and ``AnonHugePages`` the
huge pages in use. The except-advised flag is not visible from outside: that is *set*.
"""

from __future__ import annotations

from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    Plan,
    Prctl,
    RunFacts,
    Value,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion, set_variables
from assay.settings.evidence import (
    degraded,
    granted,
    mapped_files,
    observed_environment,
    readback_of,
    refused,
    step_accepted,
    unread_reason,
    unverified,
    variable_matches,
)
from assay.settings.malloc.library import PREFIXES
from assay.settings.refusals import out_of_domain
from assay.units import show_bytes

PR_SET_THP_DISABLE = 41
_DISABLE = 1
_EXCEPT_ADVISED = 1 << 1
_EXCEPT_ADVISED_SINCE = (6, 18)
_DISABLE_SINCE = (3, 15)

_DOMAIN = Choices(("default", "never", "madvise", "always"))
SWITCH = "/sys/kernel/mm/transparent_hugepage/enabled"
_MIN_USED_BYTES = 32 * 2**20
"""Memory use below which huge pages are not suggested: sixteen pages of 2 MiB save few page walks.
"""

_GLIBC = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
_HUGE_PAGE_VARIABLES: dict[str, tuple[tuple[str, str], ...]] = {
    "glibc": (_GLIBC,),
    "jemalloc": (("MALLOC_CONF", "thp:always"),),
    # Version 2.1 renamed the option; each version ignores the other name.
    "mimalloc": (
        ("MIMALLOC_LARGE_OS_PAGES", "1"),
        ("MIMALLOC_ALLOW_LARGE_OS_PAGES", "1"),
    ),
}
"""Variables that make an allocator advise huge pages: tested with glibc 2.36, jemalloc 5.3 and
mimalloc 2.0.9 (AnonHugePages of a program that fills 64 MiB, system set to madvise).
"""


class TransparentHugePages(BaseSetting, frozen=True):
    """``thp``: never, if advised, or as far as the allocator supports it."""

    name: str = "thp"
    summary: str = "transparent huge pages for the process: never, madvise, always"

    def domain(self, machine: Machine) -> Domain:
        """Return three modes, and ``default`` for the system's mode."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return ``default``: the system's mode."""
        return "default"

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest modes if memory use is large or unknown and the mode can change."""
        mode = machine.huge_pages.enabled
        if mode is None:
            return "the kernel has no transparent huge pages"
        if mode == "never":
            return f"transparent huge pages are disabled system-wide; see {SWITCH}"
        used = program.peak_anon_bytes
        if used is not None and used < _MIN_USED_BYTES:
            return f"the program uses {show_bytes(used)} of memory: too little for huge pages"
        memory = "memory use is unknown" if used is None else f"it uses {show_bytes(used)}"
        if mode == "always":
            modes = ("never", "madvise") if _can_except(machine) else ("never",)
            return Suggestion(
                Choices(modes), f"{memory}, and huge pages are always enabled system-wide"
            )
        if program.static:
            return Suggestion(
                Choices(("never",)),
                f"{memory}; the program is static, so its allocator cannot be configured",
            )
        return Suggestion(
            Choices(("never", "always")),
            f"{memory}, and huge pages are enabled system-wide only on request (madvise)",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a process flag, or variables of the allocator."""
        value = config[self.name]
        mode = machine.huge_pages.enabled
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        if value == "default":
            return Resolved(())
        if mode is None:
            if value == "never":
                return Resolved((), note="the kernel has no transparent huge pages")
            return Refused("the kernel has no transparent huge pages")
        if value == "never":
            return _never(machine)
        if mode == "never":
            return Refused(
                "transparent huge pages are disabled system-wide",
                f"As root: echo madvise > {SWITCH}.",
            )
        if value == "madvise":
            return _madvise(mode, machine)
        return _always(mode, str(config.get("malloc", "glibc")))

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the process flag, the environment, and the huge pages in use."""
        value = config[self.name]
        if step_accepted(facts, "prctl") is False:
            return refused(value, Level.SET, "the kernel rejected the flag")
        if value == "default":
            return granted(value, Level.SET, _huge(facts))
        enabled = readback_of(facts).thp_enabled
        if enabled is None:
            return _judge_unread(value, facts)
        if value == "never":
            if enabled:
                return refused(value, Level.SEEN, "THP_enabled was 1", _huge(facts))
            return granted(value, Level.SEEN, "THP_enabled 0")
        if not enabled:
            return refused(
                value,
                Level.SEEN,
                "a parent process disabled huge pages",
                "THP_enabled 0",
            )
        if value == "madvise":
            return granted(value, Level.SET, _huge(facts), "the flag is not visible from outside")
        return _judge_always(value, config, facts)


def _never(machine: Machine) -> Resolved | Refused:
    if machine.kernel_version < _DISABLE_SINCE:
        return Refused(
            f"Linux {machine.kernel} does not support PR_SET_THP_DISABLE", "It needs Linux 3.15."
        )
    return Resolved((Prctl(option=PR_SET_THP_DISABLE, args=(_DISABLE, 0, 0, 0)),))


def _can_except(machine: Machine) -> bool:
    return machine.kernel_version >= _EXCEPT_ADVISED_SINCE


def _madvise(mode: str, machine: Machine) -> Resolved | Refused:
    if mode == "madvise":
        return Resolved((), note="the system has this mode already")
    if not _can_except(machine):
        return Refused(
            f"the system is set to {mode}, and Linux {machine.kernel} cannot override that for one"
            " process",
            f"It needs Linux 6.18. As root, for all programs: echo madvise > {SWITCH}.",
        )
    return Resolved((Prctl(option=PR_SET_THP_DISABLE, args=(_DISABLE, _EXCEPT_ADVISED, 0, 0)),))


def _always(mode: str, malloc: str) -> Resolved | Refused:
    if mode == "always":
        return Resolved((), note="the system has this mode already")
    variables = _HUGE_PAGE_VARIABLES.get(malloc)
    if variables is None:
        return Refused(
            f"the system is set to {mode}, and {malloc} cannot request huge pages",
            f"Use malloc=glibc, jemalloc or mimalloc; or as root: echo always > {SWITCH}.",
        )
    version = " (2.35 or later)" if malloc == "glibc" else ""
    return Resolved(
        set_variables(dict(variables)),
        degraded=f"the system is set to {mode}: only for memory from {malloc}{version}",
    )


def _judge_unread(value: Value, facts: RunFacts) -> Grant:
    return unverified(value, unread_reason(facts, "thp_enabled"))


def _judge_always(value: Value, config: Configuration, facts: RunFacts) -> Grant:
    huge = readback_of(facts).anon_huge_bytes
    observed = _huge(facts)
    allocator = _configured_allocator(config, facts)
    if allocator is None:
        if huge:
            return granted(value, Level.EFFECTIVE, observed)
        return granted(value, Level.SEEN, observed or "THP_enabled 1")
    other = mapped_files(facts, tuple(p for name, p in PREFIXES.items() if name != allocator))
    if other:
        return refused(
            value,
            Level.SEEN,
            f"{allocator} was configured, but {other[0]} is in use",
            observed,
        )
    if huge == 0:
        return unverified(
            value, f"{allocator} was configured, but no huge page was in use when read"
        )
    if huge is None:
        return unverified(value, unread_reason(facts, "anon_huge_bytes"))
    return degraded(value, Level.EFFECTIVE, f"only memory from {allocator}", observed)


def _configured_allocator(config: Configuration, facts: RunFacts) -> str | None:
    """Return the allocator that the environment configures for huge pages, if any."""
    malloc = str(config.get("malloc", "glibc"))
    environ = observed_environment(facts) or {}
    for name, text in _HUGE_PAGE_VARIABLES.get(malloc, ()):
        if variable_matches(name, text, environ.get(name)):
            return malloc
    return None


def _huge(facts: RunFacts) -> str | None:
    huge = readback_of(facts).anon_huge_bytes
    return None if huge is None else f"{show_bytes(huge)} in huge pages"
