"""``omp.runtime``: OpenMP runtime of the program.

Interface: ``LD_PRELOAD`` (ld.so(8)). LLVM's and Intel's runtimes, which have one origin, also
contain the entry points of GNU's (``GOMP_*``, LLVM/OpenMP runtimes, "GNU Compatibility"), so that
they can replace it; GNU's has none of theirs (``__kmpc_*``). Evidence: *seen* in the maps of the
run.
"""

from __future__ import annotations

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    Grant,
    GrantStatus,
    Level,
    Plan,
    Preload,
    RunFacts,
    Unpreload,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import (
    file_name,
    judge_preloaded,
    mapped_files,
    refused,
    unread_reason,
    unverified,
)
from assay.settings.pools import NO_OPENMP_REASON, linked_runtimes
from assay.settings.refusals import is_preloadable, out_of_domain, preload_obstacle, unpreloadable


class _Runtime(msgspec.Struct, frozen=True):
    """An OpenMP runtime.

    Attributes:
        library: its name in a machine document.
        prefix: prefix of its file names.
        package: installation command.
    """

    library: str
    prefix: str
    package: str


_RUNTIMES: dict[str, _Runtime] = {
    "gnu": _Runtime("gomp", "libgomp", "apt-get install libgomp1 (Fedora: dnf install libgomp)"),
    "llvm": _Runtime("llvm-omp", "libomp", "apt-get install libomp5 (Fedora: dnf install libomp)"),
    "intel": _Runtime("iomp", "libiomp5", "pip install intel-openmp in the active environment"),
}
_DOMAIN = Choices(tuple(_RUNTIMES))
_PREFIXES = tuple(known.prefix for known in _RUNTIMES.values())
_KMPC = ("iomp", "llvm-omp")
"""Runtimes of programs that GNU's runtime cannot serve."""


class OpenMPRuntime(BaseSetting, frozen=True):
    """``omp.runtime``: a preloaded runtime."""

    name: str = "omp.runtime"
    summary: str = "OpenMP runtime of the program, preloaded: gnu, llvm, intel"

    def domain(self, machine: Machine) -> Domain:
        """Return all three; ``resolve`` names the package of one that is not installed."""
        return _DOMAIN

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest installed runtimes that can replace GNU's."""
        if not linked_runtimes(program):
            return NO_OPENMP_REASON
        if why := preload_obstacle(program, machine.arch):
            return f"the program {why}"
        if program.runtimes.intersection(_KMPC):
            return "the program contains LLVM's or Intel's runtime; name it to vary it"
        others = tuple(
            name for name, known in _RUNTIMES.items() if name != "gnu" and _path(known, machine)
        )
        if not others:
            return f"no other OpenMP runtime is installed: {_RUNTIMES['llvm'].package}"
        return Suggestion(
            Choices(others),
            "the program uses GNU OpenMP; other runtimes synchronise threads differently",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a preload that replaces any inherited runtime."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        known = _RUNTIMES[str(value)]
        path = _path(known, machine)
        if path is None:
            return Refused(f"the {value} OpenMP runtime is not installed", f"{known.package}.")
        if not is_preloadable(path):
            return unpreloadable(path)
        not_into = _KMPC if value == "gnu" else ()
        return Resolved(
            (Unpreload(prefixes=_PREFIXES), Preload(path=path, unsupported_runtimes=not_into))
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the mapped runtimes."""
        value = config[self.name]
        found = mapped_files(facts, _PREFIXES)
        if found is None:
            return unverified(value, unread_reason(facts, "maps"))
        prefix = _RUNTIMES[str(value)].prefix
        grant = judge_preloaded(value, prefix, found, "OpenMP runtime")
        others = any(not file_name(path).startswith(prefix) for path in found)
        if value == "gnu" and others and grant.status is GrantStatus.GRANTED:
            why = "code compiled for another runtime still uses that runtime"
            return refused(value, Level.SEEN, why, grant.observed)
        return grant


def _path(known: _Runtime, machine: Machine) -> str | None:
    """Return its path; a link from Intel's name to LLVM's library counts as LLVM's."""
    path = machine.libraries.get(known.library)
    return path if path is not None and file_name(path).startswith(known.prefix) else None
