"""``inherited.NAME``: whether a variable that the caller exports reaches the program.

A setting that is exported belongs to *the default*. Where it harms, no value of another setting
shows that it is the cause, so its absence is a value of its own. Evidence: *set*: the variable is
not in the environment of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

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
    Scope,
    Unpreload,
    Value,
)
from assay.settings import pools
from assay.settings.base import Refused, Resolved, Suggestion
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
"""Variable, or how variables begin -> runtimes and packages that read it; ``None``: the C library
or its loader, and so every program that is linked dynamically. The first that fits counts."""

_NOT_OF_SPEED = frozenset(
    {
        *("OMP_CANCELLATION", "OMP_DEFAULT_DEVICE", "OMP_TARGET_OFFLOAD", "OMP_STACKSIZE"),
        *("OMP_DEBUG", "OMP_TOOL", "OMP_TOOL_LIBRARIES", "OMP_TOOL_VERBOSE_INIT"),
        *("KMP_STACKSIZE", "KMP_SETTINGS", "KMP_VERSION", "KMP_WARNINGS", "GOMP_STACKSIZE"),
        *("GOMP_DEBUG", "KMP_DUPLICATE_LIB_OK", "MKL_CBWR", "MKL_VERBOSE", "MKL_THREADING_LAYER"),
        *("MKL_INTERFACE_LAYER", "OPENBLAS_VERBOSE", "OPENBLAS_CORETYPE", "MALLOC_CHECK_"),
    }
)
"""Results or the life of a program hang on these, or only what it says: shown, and not tried."""
_NO_SETTINGS = ("OMP_DISPLAY_", "OMPI_")


class InheritedVariable(msgspec.Struct, frozen=True):
    """``inherited.NAME``: kept as it is exported, or unset."""

    variable: str
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SET

    def __post_init__(self) -> None:
        if not is_variable_name(self.variable):
            raise InvalidInputError(
                f"{self.variable!r} is not the name of an environment variable.",
                "Names hold letters, digits and underscores, and begin with no digit.",
            )

    @property
    def name(self) -> str:
        """With its family."""
        return f"{FAMILY}{self.variable}"

    @property
    def summary(self) -> str:
        """One line."""
        return f"whether an exported {self.variable} reaches the program"

    def domain(self, machine: Machine) -> Domain:
        """Kept or unset."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Whatever is exported reaches the program."""
        return KEPT

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Only where it is exported, which a program does not tell (``inherited_parameters``)."""
        return "tried where the variable is exported and the program reads it"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Take the variable out of the environment."""
        value = config[self.name]
        if value not in _DOMAIN:
            return out_of_domain(self.name, value, _DOMAIN)
        return Resolved((EnvUnset(name=self.variable),) if value == UNSET else ())

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Whether it is out of the environment, but for what the plan itself puts there."""
        value = config[self.name]
        environ = observed_environment(facts)
        if environ is None:
            return unverified(value, unread_reason(facts, "environ"))
        found = environ.get(self.variable)
        if value == KEPT:
            shown = "not set" if found is None else f"{self.variable}={_shortened(found)}"
            if facts.exported is None or _sets(plan, self.variable):
                return granted(value, Level.SET, shown)
            return _judged_as_kept(self.variable, found, facts.exported.get(self.variable), shown)
        if found is None or _sets(plan, self.variable):
            return granted(value, Level.SET, f"{self.variable} is not inherited")
        return refused(value, Level.SET, f"{self.variable} is {_shortened(found)!r} in the program")


def _judged_as_kept(name: str, found: str | None, exported: str | None, shown: str) -> Grant:
    same = found == exported if exported is None else variable_matches(name, exported, found)
    if same:
        return granted(KEPT, Level.SET, shown)
    there = "not set" if found is None else repr(_shortened(found))
    wanted = "not exported here" if exported is None else f"exported as {_shortened(exported)!r}"
    return refused(KEPT, Level.SET, f"{name} is {there} in the program, and {wanted}")


def inherited_in(names: Iterable[str]) -> frozenset[str]:
    """Return the variables that settings of this family name.

    Args:
        names: of settings.
    """
    return frozenset(name.removeprefix(FAMILY) for name in names if name.startswith(FAMILY))


def exported_of(
    config: Configuration, env: Mapping[str, str], own: Mapping[str, str]
) -> dict[str, str]:
    """Return the exported variables that settings of a configuration may keep.

    Args:
        config: the configuration.
        env: the environment that launches start from.
        own: variables of the workload, which replace those.
    """
    variables = {**env, **own}
    return {name: variables[name] for name in inherited_in(config) if name in variables}


def inherited_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the exported variables that set thread pools, allocators, the C library or its loader.

    Args:
        env: the environment that launches start from.
    """
    return {name: env[name] for name in sorted(env) if env[name] and _pattern_of(name) is not None}


def inherited_parameters(env: Mapping[str, str], program: Program) -> Iterator[Parameter]:
    """Yield a parameter for each inherited setting that the program reads.

    Args:
        env: the environment that launches start from.
        program: with what its first launch showed.
    """
    for name, value in inherited_settings(env).items():
        if name in _NOT_OF_SPEED or not _is_read(name, program):
            continue
        yield Parameter(
            name=f"{FAMILY}{name}",
            domain=Choices((UNSET,)),
            default=KEPT,
            reason=f"{name}={_shortened(value)} is exported here",
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
        # A static shell may well start dynamic programs; only a program itself is known.
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
