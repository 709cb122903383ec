"""Boot states: what may read otherwise in another boot of a study, and what may not.

Where nothing takes a boot, a study goes on under the very conditions that it began under. Where
something does, another boot may change what its settings are known to change, and of settings that
assay does not know, any reading of the machine. What it read in the first boot with the same values
it has to read in all later ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.machine.boot import argument_name
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Machine, machine_in
from assay.records import Evidence, Sample, Stratum, StudySpec, Value
from assay.search.conclusion.boots import BOOT_STATE
from assay.search.space.switching import HardToChangeFactors
from assay.settings.boot import RebootSetting, as_reboot_setting
from assay.settings.boot.common import ANY_READING, KERNEL_READING
from assay.settings.boot.kernel import NAME as KERNEL_SETTING
from assay.settings.registry import Registry

COMMAND_LINE_READING = "boot"
"""The reading that holds the words of the command line that change speed."""
CPUS_READING = "the usable CPUs"
MACHINE_READING = "the machine"
"""Readings of a stratum beside those of its state, by the names that ``study resume`` has."""


class BootStateComparison:
    """What a study may find in the present boot.

    Args:
        spec: of the study.
        registry: of its settings.
        then: the stratum that goes on.
        now: the conditions at hand.
        machine: the same, whole.
        samples: of earlier sittings of the stratum.
    """

    def __init__(
        self,
        spec: StudySpec,
        registry: Registry,
        then: Stratum,
        now: Stratum,
        machine: Machine,
        samples: Sequence[Sample],
    ) -> None:
        found = (as_reboot_setting(registry.get(name)) for name in spec.pausing)
        self._settings: dict[str, RebootSetting] = {s.name: s for s in found if s is not None}
        self._costly = HardToChangeFactors.of(spec)
        self._samples = samples
        began = machine_in(then.host) or machine
        self._began, self._level = self._values(began), self._values(machine)
        self._then, self._now = _readings(then), _readings(now)
        self._strata = then, now

    @property
    def told(self) -> tuple[Evidence, ...]:
        """What reads otherwise than when the stratum began, the study's own words left out."""
        then, now = self._without_own(self._then), self._without_own(self._now)
        return tuple(
            Evidence(kind=BOOT_STATE, note=f"{name}: {now.get(name, '')}")
            for name in sorted(then.keys() | now.keys())
            if then.get(name, "") != now.get(name, "")
        )

    def compared(self) -> tuple[Stratum, Stratum]:
        """Both strata, as far as they must be alike."""
        then, now = self._strata
        if not self._settings:
            return then, now
        expected = self._expected(self._without_own(self._then), self._without_own(self._now))
        return _with(then, expected), _with(now, self._without_own(self._now))

    def _expected(self, then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
        if self._level == self._began:
            return dict(then)
        seen = self._seen()
        if seen is not None:
            return {name: text for name, text in {**then, **seen}.items() if text}
        free = self._free(then, now)
        names = then.keys() | now.keys()
        found = {name: (now if name in free else then).get(name) for name in names}
        return {name: text for name, text in found.items() if text is not None}

    def _seen(self) -> dict[str, str] | None:
        """What read otherwise in the first boot with these values; ``None`` before it."""
        mine = [
            sample
            for sample in self._samples
            if self._is_here(self._costly.boot(sample.launch.configuration))
        ]
        if not mine:
            return None
        notes = next((n for n in map(_notes, mine) if n), [])
        return dict(_halves(note) for note in notes)

    def _is_here(self, values: Mapping[str, Value]) -> bool:
        """Whether a boot with these values is like the present one."""
        here = {name: value for name, value in self._level.items() if value is not None}
        return here.keys() == values.keys() and all(
            setting.alike(values[name], here[name]) for name, setting in self._settings.items()
        )

    def _free(self, then: Mapping[str, str], now: Mapping[str, str]) -> frozenset[str]:
        """The readings that another boot may change."""
        levels = (self._began, self._level)
        other = [s for name, s in self._settings.items() if levels[0][name] != levels[1][name]]
        changed = {reading for setting in other for reading in setting.changes}
        if ANY_READING not in changed:
            return frozenset(changed)
        # Another kernel is never a side effect: a setting has to ask for it.
        return frozenset(then.keys() | now.keys()) - ({KERNEL_READING} - changed)

    def _values(self, machine: Machine) -> dict[str, Value | None]:
        return {name: setting.default(machine) for name, setting in self._settings.items()}

    def _without_own(self, readings: Mapping[str, str]) -> dict[str, str]:
        """Without the kernel and the words of the command line that the study itself varies."""
        own = {name for setting in self._settings.values() for name in setting.arguments}
        words = readings.get(COMMAND_LINE_READING, "").split()
        left = " ".join(word for word in words if argument_name(word) not in own)
        without = {
            COMMAND_LINE_READING,
            *((KERNEL_READING,) if KERNEL_SETTING in self._settings else ()),
        }
        return {
            **{n: t for n, t in readings.items() if n not in without},
            **({COMMAND_LINE_READING: left} if left else {}),
        }


def _readings(stratum: Stratum) -> dict[str, str]:
    return {
        **stratum.default_state,
        CPUS_READING: format_list(stratum.cpus),
        MACHINE_READING: stratum.machine,
        KERNEL_READING: stratum.kernel,
    }


def _with(stratum: Stratum, readings: Mapping[str, str]) -> Stratum:
    state = {
        name: text
        for name, text in readings.items()
        if name not in (CPUS_READING, MACHINE_READING, KERNEL_READING)
    }
    return msgspec.structs.replace(
        stratum,
        default_state=state,
        cpus=parse_list(readings.get(CPUS_READING, "")),
        machine=readings.get(MACHINE_READING, ""),
        kernel=readings.get(KERNEL_READING, ""),
    )


def _notes(sample: Sample) -> list[str]:
    return [e.note for e in sample.evidence if e.kind == BOOT_STATE and e.note is not None]


def _halves(note: str) -> tuple[str, str]:
    name, _, text = note.partition(": ")
    return name, text
