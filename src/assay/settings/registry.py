"""Registry of all settings by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.errors import InvalidInputError, nearest
from assay.records import (
    Configuration,
    Grant,
    GrantStatus,
    Plan,
    PlannedSetting,
    Prospect,
    RunFacts,
)
from assay.settings import threads
from assay.settings.affinity_calls import AffinityCallSetting
from assay.settings.base import Setting
from assay.settings.boot import on_demand as at_boot
from assay.settings.cache import PageCacheSetting
from assay.settings.complaints import judge_complaints
from assay.settings.cpu_view import CpuView
from assay.settings.cpus import Cpus, Placement
from assay.settings.evidence import degraded, start_failure, unverified
from assay.settings.frameworks import FRAMEWORKS
from assay.settings.gpus import VisibleGpus
from assay.settings.inherited import InheritedVariable
from assay.settings.instances import INSTANCES
from assay.settings.instruction_set import CpuIsa
from assay.settings.io_priority import IoPriorityClass
from assay.settings.limits import ResourceLimit
from assay.settings.malloc.glibc import TUNABLES
from assay.settings.malloc.library import AllocatorSetting
from assay.settings.malloc.options import OPTIONS
from assay.settings.memory import NumaPolicy
from assay.settings.mkl import MklDynamic
from assay.settings.openmp.binding import OpenMPBinding, OpenMPPlaces
from assay.settings.openmp.runtime import OpenMPRuntime
from assay.settings.openmp.schedule import OpenMPSchedule
from assay.settings.openmp.wait import OpenMPBlocktime, OpenMPWaitPolicy
from assay.settings.per_core import ThreadsPerCore
from assay.settings.scheduling import NiceValue, SchedulingClass
from assay.settings.system import SYSTEM, on_demand
from assay.settings.thp import TransparentHugePages
from assay.settings.tier import TIER_SETTINGS as TIER
from assay.settings.user_defined import Argument, BuildValue, CommandLine, EnvVariable
from assay.settings.workers import judge_by_workers


class Registry:
    """Settings by name, in the given order.

    ``env.NAME``, ``inherited.NAME``, ``arg.NAME``, ``build.NAME`` and ``limit.NAME`` are created on
    demand, as are ``vm.thp.SIZE``, ``vm.hugepages.SIZE``, ``boot.ARG`` and ``firmware.NAME``.
    """

    def __init__(self, settings: Iterable[Setting]) -> None:
        self._settings = {setting.name: setting for setting in settings}

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._settings.values())

    def __len__(self) -> int:
        return len(self._settings)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all settings that are not created on demand."""
        return tuple(self._settings)

    def get(self, name: str) -> Setting:
        """Return the setting of that name.

        Raises:
            InvalidInputError: unknown setting; the message names the closest one.
        """
        if name in self._settings:
            return self._settings[name]
        family, _, rest = name.partition(".")
        if family == "env" and rest:
            return EnvVariable(rest)
        if family == "inherited" and rest:
            return InheritedVariable(rest)
        if family == "arg" and rest:
            return Argument(rest)
        if family == "build" and rest:
            return BuildValue(rest)
        if family == "limit" and rest:
            return ResourceLimit(rest)
        found = on_demand(name) or at_boot(name)
        if found is not None:
            return found
        named = (f"env.{rest}", f"arg.{rest}", f"build.{rest}") if rest else ()
        near = nearest(name, (*self._settings, *named))
        raise InvalidInputError(
            f"Unknown setting: {name!r}.",
            f"Did you mean {near}?" if near else "`assay settings list` shows all settings.",
        )


def builtin() -> Registry:
    """Return the built-in settings."""
    return Registry(
        (
            threads.ALL,
            threads.OPENMP,
            threads.BLAS,
            threads.MKL,
            MklDynamic(),
            threads.NUMEXPR,
            *FRAMEWORKS,
            ThreadsPerCore(),
            OpenMPBinding(),
            OpenMPPlaces(),
            OpenMPSchedule(),
            OpenMPWaitPolicy(),
            OpenMPBlocktime(),
            OpenMPRuntime(),
            Cpus(),
            Placement(),
            AffinityCallSetting(),
            CpuView(),
            *INSTANCES,
            AllocatorSetting(),
            *OPTIONS,
            *TUNABLES,
            PageCacheSetting(),
            TransparentHugePages(),
            NumaPolicy(),
            *TIER,
            CpuIsa(),
            SchedulingClass(),
            NiceValue(),
            IoPriorityClass(),
            VisibleGpus(),
            CommandLine(),
            *SYSTEM,
        )
    )


def judge_all(
    config: Configuration, registry: Registry, plan: Plan, facts: RunFacts
) -> dict[str, Grant]:
    """Return a grant for each setting of ``config``.

    A value that the plan degraded is never granted.

    Raises:
        InvalidInputError: unknown setting.
    """
    why = start_failure(facts)
    if why is not None:
        return {name: unverified(value, why) for name, value in config.items()}
    return {
        name: _no_better_than_planned(
            _judged(registry.get(name), config, facts, plan), plan.settings.get(name)
        )
        for name in config
    }


def _judged(setting: Setting, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
    grant = judge_by_workers(setting, config, facts, plan)
    return judge_complaints(setting, config, facts, plan, grant)


def _no_better_than_planned(grant: Grant, word: PlannedSetting | None) -> Grant:
    if (
        word is None
        or word.status is not Prospect.DEGRADED
        or grant.status is not GrantStatus.GRANTED
    ):
        return grant
    return degraded(grant.value, grant.level, word.reason or "", grant.observed)
