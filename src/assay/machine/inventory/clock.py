"""Frequencies and idle states of CPUs.

Interfaces: ``Documentation/admin-guide/pm/{cpufreq,cpuidle}.rst``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from assay.machine.cpulist import list_in
from assay.machine.inventory.document import Frequency, IdleState
from assay.machine.root import Root

_CPU = "/sys/devices/system/cpu"
_FILES = (
    "affected_cpus",
    "scaling_driver",
    "scaling_governor",
    "energy_performance_preference",
    "cpuinfo_min_freq",
    "cpuinfo_max_freq",
    "base_frequency",
    "scaling_min_freq",
    "scaling_max_freq",
)
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)


def read_frequencies(root: Root) -> tuple[Frequency, ...]:
    """Return the frequency properties, with the CPUs that share them, also across domains."""
    alike: dict[Frequency, set[int]] = {}
    for policy in policy_folders(root):
        texts = root.read_texts(policy, _FILES)
        cpus = _cpus(root, policy, texts)
        if cpus:
            alike.setdefault(_frequency(texts), set()).update(cpus)
    found = (replace(kind, cpus=tuple(sorted(cpus))) for kind, cpus in alike.items())
    return tuple(sorted(found, key=lambda source: source.cpus))


def policy_folders(root: Root) -> list[str]:
    """Return the directories of the frequency domains, in the order of their numbers.

    Old kernels (3.x) have a directory per CPU.
    """
    folder = f"{_CPU}/cpufreq"
    policies = [f"{folder}/{name}" for name in _numbered(root, folder, "policy")]
    each = (f"{_CPU}/{name}/cpufreq" for name in _numbered(root, _CPU, "cpu"))
    return policies or [path for path in each if root.exists(path)]


def _numbered(root: Root, folder: str, start: str) -> list[str]:
    """Return the names in a directory that consist of a word and a number, by number."""
    names = [n for n in root.listdir(folder) if re.fullmatch(rf"{start}\d+", n, re.ASCII)]
    return sorted(names, key=lambda name: int(name[len(start) :]))


def _cpus(root: Root, policy: str, texts: Mapping[str, str]) -> tuple[int, ...]:
    text = texts.get("affected_cpus") or root.read_text(f"{policy}/related_cpus") or ""
    return list_in(text.replace(" ", ","))


def _frequency(texts: Mapping[str, str]) -> Frequency:
    khz = {name: int(text) for name, text in texts.items() if _NUMBER.fullmatch(text)}
    return Frequency(
        cpus=(),
        driver=texts.get("scaling_driver") or None,
        governor=texts.get("scaling_governor") or None,
        preference=texts.get("energy_performance_preference") or None,
        min_khz=khz.get("cpuinfo_min_freq"),
        max_khz=khz.get("cpuinfo_max_freq"),
        base_khz=khz.get("base_frequency"),
        limit_low_khz=khz.get("scaling_min_freq"),
        limit_high_khz=khz.get("scaling_max_freq"),
    )


def read_idle(root: Root, cpu: int) -> tuple[str | None, tuple[IdleState, ...]]:
    """Return the driver of idle states, and the states of one CPU, the lightest first."""
    driver = root.read_text(f"{_CPU}/cpuidle/current_driver")
    folder = f"{_CPU}/cpu{cpu}/cpuidle"
    states = tuple(
        IdleState(
            name=root.read_text(f"{folder}/{name}/name") or name,
            exit_latency_us=root.read_int(f"{folder}/{name}/latency"),
            disabled=(root.read_int(f"{folder}/{name}/disable") or 0) != 0,
        )
        for name in _numbered(root, folder, "state")
    )
    return None if driver in (None, "", "none") else driver, states
