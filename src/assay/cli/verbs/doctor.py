"""``assay doctor``: measurements and settings that this host allows, on one screen."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.api.composition import laboratory
from assay.cli.arguments.common import common_options
from assay.cli.documents.doctor import DoctorAnswer, Separation, SettingAvailability
from assay.cli.parsing.parser import Parsed
from assay.cli.process.privileges import unprotected
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.cli.show.overhead import summary_lines
from assay.cli.startup import context_with
from assay.errors import AssayError, NotPossibleError
from assay.machine.cpu_restriction import describe_restriction
from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.quota import describe_quota, quota_stat, read_periods
from assay.machine.reader import fingerprint
from assay.machine.root import LIVE
from assay.records import Configuration, Prospect, Scope, to_builtins
from assay.records.overhead import Overhead
from assay.root_helper.helper import RootHelper
from assay.root_helper.installation import first_exposed_path
from assay.store import default_url, open_store
from assay.study.laboratory import Laboratory
from assay.units import show_bytes, show_count

MAX_VALUES = 1024
"""Maximum number of examined values of a setting. It covers ``Range(0, 4 * CPUs)`` of machines
with up to 255 CPUs."""
LARGE_STORE_BYTES = 10**9
"""Size of a store above which it is shown with the next step, in bytes."""


@dataclass(frozen=True)
class _StoreFacts:
    """Facts on the store.

    Attributes:
        place: its URL, or the remedy if the user has no home directory.
        size_bytes: its size, in bytes; ``None`` without a readable store.
        overheads: costs of observing on this machine; empty without a readable store.
    """

    place: str
    size_bytes: int | None = None
    overheads: tuple[Overhead, ...] = ()


def run(parsed: Parsed) -> int:
    """Run the verb."""
    options = common_options(parsed)
    lab = laboratory(context_with(options), launches=False)
    probe = lab.driver.probe()
    settings = dict(_settings(lab))
    store = _store_facts(options.db, fingerprint(lab.machine))
    if options.json:
        answer = DoctorAnswer(
            machine=lab.machine,
            launcher=probe,
            settings=settings,
            store=store.place,
            store_bytes=store.size_bytes,
            overhead=store.overheads,
            separation=_separation(options.helper),
        )
        print_json(to_builtins(answer))
        return 0
    lines = _lines(lab, probe, settings, store, options.helper)
    print("\n".join(wrapped(lines, width_of(sys.stdout))))
    return 0


def _separation(helper: RootHelper | None) -> Separation | None:
    """Return the user whose programs run under sudo, and a path that exposes root."""
    if helper is None:
        return None
    place = first_exposed_path(helper.path, helper.caller)
    return Separation(user=helper.caller.name, exposed=None if place is None else str(place))


def _settings(lab: Laboratory) -> Iterable[tuple[str, SettingAvailability]]:
    """Yield each setting with its grantable values, and the reasons against the others.

    Leaves out the many system settings: ``assay settings list`` shows them.
    """
    for setting in lab.registry:
        if setting.scope is Scope.SYSTEM:
            continue
        values = setting.domain(lab.machine).values() or ()
        words = {
            str(value): lab.plan(Configuration({setting.name: value})).settings[setting.name]
            for value in values[:MAX_VALUES]
        }
        yield (
            setting.name,
            SettingAvailability(
                domain=str(setting.domain(lab.machine)),
                granted=tuple(v for v, w in words.items() if w.status is Prospect.GRANTABLE),
                degraded={v: w.reason for v, w in words.items() if w.status is Prospect.DEGRADED},
                refused={v: w.reason for v, w in words.items() if w.status is Prospect.REFUSED},
            ),
        )


def _lines(
    lab: Laboratory,
    probe: dict[str, Any],
    settings: dict[str, SettingAvailability],
    store: _StoreFacts,
    helper: RootHelper | None = None,
) -> Iterable[str]:
    machine = lab.machine
    cores = show_count(len(machine.cores), "core")
    nodes = show_count(len(machine.nodes), "NUMA node")
    yield f"machine    {machine.model}, {machine.arch}, Linux {machine.kernel}"
    if machine.hypervisor:
        yield f"           a guest of {machine.hypervisor}: other guests may slow it (steal time)"
    usable = f"{format_list(machine.allowed_cpus)} usable of {len(machine.cpus)}"
    yield f"CPUs       {usable}: {cores}, {nodes}"
    if machine.cpu_limit is not None:
        periods = read_periods(LIVE, quota_stat(LIVE))
        yield f"           {describe_quota(machine.cpu_limit, periods)}"
    if machine.cpu_restriction is not None:
        yield f"           {describe_restriction(machine.cpu_restriction, machine.allowed_cpus)}"
    yield f"memory     {show_bytes(machine.memory_bytes)}"
    yield f"huge pages {machine.huge_pages.enabled or 'not in this kernel'}"
    yield f"cgroups    {machine.cgroup}: {_containment(probe)}"
    yield from _rights(machine, helper)
    yield f"launcher   {probe.get('version', 'unknown version')}"
    yield from _store_lines(store.place, store.size_bytes)
    yield from _observing(store.overheads)
    yield "state      `assay machine check` shows whether it is fit for measuring"
    yield ""
    width = max(len(name) for name in settings)
    for name, found in settings.items():
        granted = found.domain if not (found.degraded or found.refused) else None
        granted = granted or _listed(found.granted) or "no value"
        yield f"{name:{width}}  granted: {granted}"
        for word, reasons in (("degraded", found.degraded), ("refused", found.refused)):
            for reason, values in _by_reason(reasons).items():
                yield f"{'':{width}}  {word}: {values}: {reason}"


def _store_facts(db: str | None, machine: str) -> _StoreFacts:
    """Return the facts on the store, for the machine with a fingerprint."""
    try:
        place = default_url(os.environ, db)
    except NotPossibleError as error:
        place = f"none: {error.remedy}"
    try:
        with open_store(db, create=False) as store:
            return _StoreFacts(place, store.file_use().size_bytes, store.overheads(machine))
    except AssayError:
        return _StoreFacts(place)


def _store_lines(store: str, size_bytes: int | None) -> Iterable[str]:
    if size_bytes is None or size_bytes <= LARGE_STORE_BYTES:
        yield f"store      {store}"
        return
    yield f"store      {store} ({show_bytes(size_bytes)})"
    yield "           `assay study compact` packs it and returns free space;"
    yield "           `assay study prune --older-than 90d` shows the studies that could go"


def _observing(overheads: Sequence[Overhead]) -> Iterable[str]:
    if not overheads:
        yield "observing  cost not measured here: `assay study calibrate --overhead` measures it"
        return
    lines = (line for overhead in overheads for line in summary_lines(overhead))
    for number, line in enumerate(lines):
        yield f"{'' if number else 'observing':10} {line}"


def _rights(machine: Machine, helper: RootHelper | None) -> Iterable[str]:
    root = "root" if machine.rights.uid == 0 else f"uid {machine.rights.uid}"
    if helper is None:
        yield f"rights     {root}"
        return
    yield f"rights     {root}, by a helper; programs, store and files are {helper.caller.name}'s"
    if (place := first_exposed_path(helper.path, helper.caller)) is not None:
        yield f"           {unprotected(place)}"


def _by_reason(words: dict[str, str | None]) -> dict[str, str]:
    """Return the values of each reason, on one line."""
    groups: dict[str, list[str]] = {}
    for value, reason in words.items():
        groups.setdefault(_without_value(reason or "", value), []).append(value)
    return {reason: _listed(values) for reason, values in groups.items()}


def _listed(values: Sequence[str]) -> str:
    """Return values on one line; consecutive numbers as a range, ``-20..-1``."""
    runs: list[list[str]] = []
    for value in values:
        if runs and value == _next(runs[-1][-1]):
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(f"{run[0]}..{run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def _next(value: str) -> str | None:
    """Return the next whole number as text; ``None`` for other texts."""
    return str(int(value) + 1) if value.lstrip("-").isdecimal() else None


def _without_value(reason: str, value: str) -> str:
    """Return a reason with ``this`` in place of the value that it names."""
    if not value.lstrip("-").isdecimal():
        return reason
    return re.sub(rf"={re.escape(value)}(?![\w.])", "=this", reason)


def _containment(probe: dict[str, Any]) -> str:
    found = probe.get("cgroup") or {}
    if found.get("guarantee") == "complete":
        return "assay can end every process of a launch"
    reason = found.get("reason")
    return "assay may miss processes that a launch leaves behind" + (
        f" ({reason})" if reason else ""
    )
