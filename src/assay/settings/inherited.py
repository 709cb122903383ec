"""``inherited.NAME``: keep or unset an exported variable for the program.

An exported variable is part of *the default*. If it slows the program down, no other setting shows
that, so its removal is a value of its own. Evidence: *set*: the variable is not in the environment
of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from assay.errors import InvalidInputError
from assay.machine.document import Machine, Program
from assay.records import (
    Choices,
    Configuration,
    Domain,
    EnvSet,
    EnvUnset,
    Grant,
    Level,
    Parameter,
    Plan,
    Preload,
    RunFacts,
    Unpreload,
    Value,
)
from assay.settings import pools
from assay.settings.base import BaseSetting, Refused, Resolved
from assay.settings.evidence import (
    granted,
    observed_environment,
    refused,
    unread_reason,
    unverified,
    variable_matches,
)
from assay.settings.refusals import out_of_domain
from assay.settings.value_text import is_variable_name

FAMILY = "inherited."
KEPT, UNSET = "kept", "unset"
PRELOAD = "LD_PRELOAD"
_DOMAIN = Choices((KEPT, UNSET))
_SHOWN_CHARACTERS = 80

_OPENMP = frozenset(pools.OPENMP_RUNTIMES)
_READERS: dict[str, frozenset[str] | None] = {
    "OMP_NUM_THREADS": _OPENMP | frozenset(pools.BLAS_RUNTIMES),
    "OMP_*": _OPENMP,
    "KMP_*": frozenset({"iomp", "llvm-omp"}),
    "GOMP_*": frozenset({"gomp"}),
    "OPENBLAS_*": frozenset({"openblas"}),
    "GOTO_NUM_THREADS": frozenset({"openblas"}),
    "MKL_*": frozenset({"mkl"}),
    "BLIS_*": frozenset({"blis"}),
    "NUMEXPR_NUM_THREADS": frozenset({"numexpr"}),
    "NUMEXPR_MAX_THREADS": frozenset({"numexpr"}),
    "NUMBA_NUM_THREADS": frozenset({"numba"}),
    "RAYON_NUM_THREADS": frozenset({"rayon"}),
    "GOMAXPROCS": frozenset({"go"}),
    "MALLOC_CONF": frozenset({"jemalloc"}),
    "MALLOC_*": None,
    "TCMALLOC_*": frozenset({"tcmalloc"}),
    "MIMALLOC_*": frozenset({"mimalloc"}),
    "TBB_MALLOC_*": frozenset({"tbbmalloc"}),
    "GLIBC_TUNABLES": None,
    PRELOAD: None,
}
"""Variable or prefix -> runtimes and packages that read it. ``None``: the C library or its loader,
and so every dynamically linked program. The first match counts.
"""

_NOT_OF_SPEED = frozenset(
    {
        *("OMP_CANCELLATION", "OMP_DEFAULT_DEVICE", "OMP_TARGET_OFFLOAD", "OMP_STACKSIZE"),
        *("OMP_DEBUG", "OMP_TOOL", "OMP_TOOL_LIBRARIES", "OMP_TOOL_VERBOSE_INIT"),
        *("KMP_STACKSIZE", "KMP_SETTINGS", "KMP_VERSION", "KMP_WARNINGS", "GOMP_STACKSIZE"),
        *("GOMP_DEBUG", "KMP_DUPLICATE_LIB_OK", "MKL_CBWR", "MKL_VERBOSE", "MKL_THREADING_LAYER"),
        *("MKL_INTERFACE_LAYER", "OPENBLAS_VERBOSE", "OPENBLAS_CORETYPE", "MALLOC_CHECK_"),
    }
)
"""Variables that affect results, robustness or output of a program: shown, but not varied."""
_NO_SETTINGS = ("OMP_DISPLAY_", "OMPI_")


class InheritedVariable(BaseSetting, frozen=True):
    """``inherited.NAME``: keep the exported variable, or unset it."""

    variable: str
    evidence: ClassVar[Level] = Level.SET
    not_suggested: ClassVar[str] = "tried if the variable is exported and the program reads it"

    def __post_init__(self) -> None:
        if not is_variable_name(self.variable):
            raise InvalidInputError(
                f"Invalid name of an environment variable: {self.variable!r}.",
                "Names consist of letters, digits and underscores, and do not begin with a digit.",
            )

    @property
    def name(self) -> str:
        """Name with its family."""
        return f"{FAMILY}{self.variable}"

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"exported variable {self.variable} of the program: kept or unset"

    def domain(self, machine: Machine) -> Domain:
        """Return the two values."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return ``kept``: exported variables reach the program."""
        return KEPT

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the action that removes the variable from the environment."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        return Resolved((EnvUnset(name=self.variable),) if value == UNSET else ())

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Check that the variable is missing, unless the plan itself sets it."""
        value = config[self.name]
        environ = observed_environment(facts)
        if environ is None:
            return unverified(value, unread_reason(facts, "environ"))
        found = environ.get(self.variable)
        if value == KEPT:
            shown = "not set" if found is None else f"{self.variable}={_shortened(found)}"
            if facts.exported is None or _sets(plan, self.variable):
                return granted(value, Level.SET, shown)
            return _judge_inherited(self.variable, found, facts.exported.get(self.variable), shown)
        if found is None or _sets(plan, self.variable):
            return granted(value, Level.SET, f"{self.variable} is not inherited")
        return refused(value, Level.SET, f"{self.variable} is {_shortened(found)!r} in the program")


def _judge_inherited(name: str, found: str | None, exported: str | None, shown: str) -> Grant:
    same = found == exported if exported is None else variable_matches(name, exported, found)
    if same:
        return granted(KEPT, Level.SET, shown)
    found_text = "not set" if found is None else repr(_shortened(found))
    wanted = "not exported" if exported is None else f"exported as {_shortened(exported)!r}"
    return refused(KEPT, Level.SET, f"{name} is {found_text} in the program, and {wanted}")


def inherited_in(names: Iterable[str]) -> frozenset[str]:
    """Return the variables of settings of this family.

    Args:
        names: names of settings.
    """
    return frozenset(name.removeprefix(FAMILY) for name in names if name.startswith(FAMILY))


def exported_of(
    config: Configuration, env: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """Return the exported variables that settings of a configuration may keep.

    Args:
        config: the configuration.
        env: environment of the launches.
        own: variables of the workload, which override the environment.
    """
    variables = {**env, **own}
    return {name: variables[name] for name in inherited_in(config) if name in variables}


def inherited_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the exported variables of thread pools, allocators, the C library and its loader.

    Args:
        env: environment of the launches.
    """
    return {name: env[name] for name in sorted(env) if env[name] and _pattern_of(name) is not None}


def inherited_parameters(env: Mapping[str, str], program: Program) -> Iterator[Parameter]:
    """Yield a parameter for each inherited variable that the program reads.

    Args:
        env: environment of the launches.
        program: the program, with the observations of its first launch.
    """
    for name, value in inherited_settings(env).items():
        if name in _NOT_OF_SPEED or not _is_read(name, program):
            continue
        yield Parameter(
            name=f"{FAMILY}{name}",
            domain=Choices((UNSET,)),
            default=KEPT,
            reason=f"{name}={_shortened(value)} is exported",
        )


def format_variables(variables: Mapping[str, str]) -> str:
    """Return the variables in one line: ``OMP_PROC_BIND=true, MALLOC_ARENA_MAX=1``."""
    return ", ".join(f"{name}={_shortened(value)}" for name, value in variables.items())


def _pattern_of(name: str) -> str | None:
    if name.startswith(_NO_SETTINGS):
        return None
    return next(
        (p for p in _READERS if p == name or (p[-1] == "*" and name[: len(p) - 1] == p[:-1])), None
    )


def _is_read(name: str, program: Program) -> bool:
    pattern = _pattern_of(name)
    readers = _READERS[pattern] if pattern is not None else frozenset()
    if readers is None:
        # A static shell often starts dynamic programs; only the program itself is known.
        return not program.static
    return not readers.isdisjoint(program.runtimes | set(program.packages))


def _sets(plan: Plan, variable: str) -> bool:
    return any(
        (isinstance(action, EnvSet) and action.name == variable)
        or (isinstance(action, (Preload, Unpreload)) and variable == PRELOAD)
        for action in plan.actions
    )


def _shortened(value: str) -> str:
    return value if len(value) <= _SHOWN_CHARACTERS else f"{value[: _SHOWN_CHARACTERS - 3]}..."
