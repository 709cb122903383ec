"""Planner: resolves a configuration on a machine.

Pure: the same configuration, machine and registry give the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

import msgspec

from assay.machine.document import Machine, Program
from assay.machine.tunables import KERNEL, SMT_CONTROL, current_value
from assay.records import (
    Action,
    Affinity,
    AffinityCalls,
    Arg,
    Build,
    Command,
    Configuration,
    EnvSet,
    EnvUnset,
    HoldFd,
    Instances,
    IoPriority,
    Level,
    MemPolicy,
    PageCache,
    Plan,
    PlannedSetting,
    Prctl,
    Preload,
    Prospect,
    RequiredBoot,
    RestrictedCpuView,
    Rlimit,
    Sched,
    Swap,
    Unpreload,
    Wrap,
    WriteFile,
)
from assay.settings.base import Pending, Refused, Resolved, Setting
from assay.settings.list_variables import LIST_VARIABLES, contains, merge
from assay.settings.refusals import preload_obstacle
from assay.settings.registry import Registry
from assay.settings.system.kernel import RT_THROTTLING
from assay.settings.system.smt import NAME as SMT
from assay.settings.system.smt import OFF as SMT_OFF
from assay.settings.system.smt import without_siblings

_ORDER: tuple[type, ...] = (
    RequiredBoot,
    WriteFile,
    Swap,
    HoldFd,
    Build,
    Command,
    Arg,
    Wrap,
    EnvUnset,
    EnvSet,
    Unpreload,
    Preload,
    Affinity,
    MemPolicy,
    Sched,
    IoPriority,
    Prctl,
    RestrictedCpuView,
    Rlimit,
    AffinityCalls,
    PageCache,
    Instances,
)


def plan(
    config: Configuration,
    machine: Machine,
    registry: Registry,
    program: Program | None = None,
) -> Plan:
    """Return the actions of ``config``, and the prospect of each of its settings.

    ``env.NAME`` overrides other settings of its variable, which are then marked as degraded. With
    ``program``, preloads into a program that does not support them are refused.

    Raises:
        InvalidInputError: a setting is unknown, or a value is invalid.
    """
    machine = with_system_settings(machine, config)
    drafts = [_draft(registry.get(name), config, machine) for name in config]
    if program is not None:
        why = preload_obstacle(program, machine.arch)
        drafts = [_without_impossible_preload(draft, program, why) for draft in drafts]
    drafts = _settle_unset(_settle_shared(_settle_variables(_settle_single(drafts))))
    return Plan(
        configuration=config,
        actions=tuple(sorted(_merged(drafts), key=_order_key)),
        settings={draft.name: draft.planned_setting(config) for draft in drafts},
    )


def confined_to_cpus(found: Plan, cpus: tuple[int, ...]) -> Plan:
    """Return a plan that confines the process tree to these CPUs, unless it sets CPUs itself."""
    if found.cpus:
        return found
    actions = sorted((*found.actions, Affinity(cpus=cpus)), key=_order_key)
    return msgspec.structs.replace(found, actions=tuple(actions))


def with_system_settings(machine: Machine, config: Configuration) -> Machine:
    """Return the machine in the state that the system settings of a configuration produce."""
    enabled = config.get("vm.thp")
    if isinstance(enabled, str):
        huge_pages = msgspec.structs.replace(machine.huge_pages, enabled=enabled)
        machine = msgspec.structs.replace(machine, huge_pages=huge_pages)
    if config.get(SMT) == SMT_OFF and current_value(machine.system_files, SMT_CONTROL) == "on":
        machine = without_siblings(machine)
    runtime_us = config.get(RT_THROTTLING)
    if isinstance(runtime_us, int):
        period = current_value(machine.system_files, f"{KERNEL}/sched_rt_period_us")
        if period is not None and int(period) > 0:
            share = 1.0 if runtime_us < 0 else min(1.0, runtime_us / int(period))
            machine = msgspec.structs.replace(machine, rt_share=share)
    return machine


class _Draft(msgspec.Struct, frozen=True):
    """Contribution of one setting while conflicts between settings are resolved."""

    name: str
    evidence: Level
    prospect: Prospect
    reason: str | None
    actions: tuple[Action, ...] = ()

    def planned_setting(self, config: Configuration) -> PlannedSetting:
        return PlannedSetting(
            value=config[self.name],
            status=self.prospect,
            level=self.evidence,
            reason=self.reason,
        )

    def refuse(self, reason: str) -> _Draft:
        return msgspec.structs.replace(self, prospect=Prospect.REFUSED, reason=reason, actions=())

    def degrade(self, reason: str) -> _Draft:
        if self.prospect is Prospect.REFUSED:
            return self
        parts = [self.reason] if self.prospect is Prospect.DEGRADED and self.reason else []
        return msgspec.structs.replace(
            self, prospect=Prospect.DEGRADED, reason="; ".join([*parts, reason])
        )

    @property
    def explicit(self) -> bool:
        return self.name.startswith("env.")


def _draft(setting: Setting, config: Configuration, machine: Machine) -> _Draft:
    name, evidence = setting.name, setting.evidence
    match setting.resolve(config, machine):
        case Refused(reason=reason, remedy=remedy):
            text = reason if remedy is None else f"{reason}. {remedy}"
            return _Draft(name, evidence, Prospect.REFUSED, text)
        case Pending(missing=missing):
            return _Draft(name, evidence, Prospect.PENDING, missing)
        case Resolved(actions=actions, degraded=str(why)):
            return _Draft(name, evidence, Prospect.DEGRADED, why, actions)
        case Resolved(actions=actions, note=note):
            return _Draft(name, evidence, Prospect.GRANTABLE, note, actions)


def _without_impossible_preload(draft: _Draft, program: Program, why: str | None) -> _Draft:
    if not any(isinstance(action, Preload) for action in draft.actions):
        return draft
    if why is not None:
        return draft.refuse(f"{_name(program)} {why}")
    unfit = program.runtimes.intersection(
        name for a in draft.actions if isinstance(a, Preload) for name in a.unsupported_runtimes
    )
    if unfit:
        return draft.refuse(
            f"{_name(program)} is compiled for {' and '.join(sorted(unfit))}, which the "
            "preloaded library cannot replace"
        )
    return draft


def _name(program: Program) -> str:
    """Return the given word, or the file behind a wrapper that prevents the preload."""
    return (program.path if program.through else None) or program.argv0


def _settle_variables(drafts: list[_Draft]) -> list[_Draft]:
    """Give each plain variable one owner: ``env.NAME`` first, then the first setting by name."""
    owners: dict[str, tuple[str, str]] = {}
    for draft in sorted(drafts, key=_claim):
        for name, value in _variables(draft).items():
            owners.setdefault(name, (draft.name, value))
    return [_yield_variables(draft, owners) for draft in drafts]


def _yield_variables(draft: _Draft, owners: Mapping[str, tuple[str, str]]) -> _Draft:
    wanted = _variables(draft)
    lost = {name for name in wanted if owners[name][0] != draft.name}
    if not lost:
        return draft
    kept = tuple(a for a in draft.actions if not (isinstance(a, EnvSet) and a.name in lost))
    settled = msgspec.structs.replace(draft, actions=kept)
    for name in sorted(lost):
        owner, value = owners[name]
        if value == wanted[name]:
            continue
        if not owner.startswith("env."):
            return draft.refuse(
                f"{owner} sets {name} to {value}; this setting needs {wanted[name]}"
            )
        settled = settled.degrade(f"{owner} sets {name}")
    return settled


def _settle_unset(drafts: list[_Draft]) -> list[_Draft]:
    """Refuse to unset a variable that another setting sets: it is not inherited in that case.

    Shared lists are exempt: without the inherited part they start empty.
    """
    owners = {name: draft.name for draft in drafts for name in _variables(draft)}
    settled = []
    for draft in drafts:
        names = [action.name for action in draft.actions if isinstance(action, EnvUnset)]
        held = next((name for name in names if name in owners), None)
        settled.append(
            draft if held is None else draft.refuse(f"{owners[held]} sets {held} itself")
        )
    return settled


def _variables(draft: _Draft) -> dict[str, str]:
    return {
        action.name: action.value
        for action in draft.actions
        if isinstance(action, EnvSet) and action.name not in LIST_VARIABLES
    }


def _settle_shared(drafts: list[_Draft]) -> list[_Draft]:
    """Remove list entries that another setting overrides."""
    shared = _shared(drafts)
    return [_yield_shared(draft, shared) for draft in drafts]


def _yield_shared(draft: _Draft, shared: Mapping[str, str]) -> _Draft:
    lost = [
        action
        for action in draft.actions
        if isinstance(action, EnvSet)
        and action.name in LIST_VARIABLES
        and not contains(action.name, shared[action.name], action.value)
    ]
    if not lost:
        return draft
    kept = tuple(action for action in draft.actions if action not in lost)
    if not kept:
        return draft.refuse(f"another setting overrides this in {lost[0].name}")
    return msgspec.structs.replace(draft, actions=kept).degrade(
        f"another setting sets {lost[0].name}"
    )


def _shared(drafts: list[_Draft]) -> dict[str, str]:
    """Return the shared lists; entries of ``env.NAME`` come before those of other settings."""
    entries = [
        (_claim(draft), action)
        for draft in drafts
        for action in draft.actions
        if isinstance(action, EnvSet) and action.name in LIST_VARIABLES
    ]
    shared: dict[str, str] = {}
    for _, action in sorted(entries, key=itemgetter(0)):
        shared[action.name] = merge(action.name, action.value, shared.get(action.name, ""))
    return shared


def _claim(draft: _Draft) -> tuple[bool, str]:
    return not draft.explicit, draft.name


def _settle_single(drafts: list[_Draft]) -> list[_Draft]:
    """Refuse a second, different value for a property that exists once per process or machine."""
    holders: dict[type | str, tuple[str, Action]] = {}
    settled = []
    for draft in drafts:
        clash = None
        for action in draft.actions:
            for place in _exclusive_properties(action):
                name, held = holders.setdefault(place, (draft.name, action))
                clash = clash or (name if _conflict(held, action) else None)
        settled.append(draft.refuse(f"{clash} already sets this") if clash else draft)
    return settled


def _exclusive_properties(action: Action) -> tuple[type | str, ...]:
    """Return the properties that an action sets and that exist only once."""
    match action:
        case Affinity() | MemPolicy() | Command():
            return (type(action),)
        case WriteFile(path=path, resets=resets):
            return (path, *resets)
        case HoldFd(path=path) | Swap(path=path):
            return (path,)
        case _:
            return ()


def _conflict(held: Action, other: Action) -> bool:
    """Return whether two actions conflict.

    A file that another write resets may be written after it; two files that reset each other
    conflict.
    """
    if isinstance(held, WriteFile) and isinstance(other, WriteFile) and held.path != other.path:
        return held.path in other.resets and other.path in held.resets
    return held != other


def _merged(drafts: list[_Draft]) -> list[Action]:
    """Merge the actions: one variable per shared list, one scheduling action, no repeats."""
    sched = Sched()
    kept: list[Action] = []
    for action in (action for draft in drafts for action in draft.actions):
        if isinstance(action, Sched):
            sched = _with(sched, action)
        elif (
            not (isinstance(action, EnvSet) and action.name in LIST_VARIABLES)
            and action not in kept
        ):
            kept.append(action)
    kept += [EnvSet(name=name, value=value) for name, value in _shared(drafts).items()]
    return kept if sched == Sched() else [*kept, sched]


def _with(sched: Sched, more: Sched) -> Sched:
    if more.policy is None:
        return msgspec.structs.replace(sched, nice=more.nice)
    return msgspec.structs.replace(more, nice=sched.nice if more.nice is None else more.nice)


def _order_key(action: Action) -> tuple[int, bool, str]:
    # Writes that reset other files come first, and so do preloaded objects that call the next one.
    last = (isinstance(action, WriteFile) and not action.resets) or (
        isinstance(action, Preload) and not action.place_first
    )
    return _ORDER.index(type(action)), last, getattr(action, "name", "")
