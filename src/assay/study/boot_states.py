"""Boot states: readings of the machine that may differ between the boots of a study.

Without boot settings, a study continues only under the conditions under which it began. With boot
settings, another boot may change the readings that they are known to affect; settings unknown to
assay may change any reading. The readings of the first boot with certain values must recur in all
later boots with these values.
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
"""Reading with the kernel command line arguments that affect performance."""
CPUS_READING = "the usable CPUs"
MACHINE_READING = "the machine"
"""Names of the readings of a stratum besides those of its state, as in ``study resume``."""


class BootStateComparison:
    """Comparison of the present boot with the boots of a study.

    Args:
        spec: specification of the study.
        registry: registry of its settings.
        then: stratum to continue.
        now: present conditions.
        machine: machine document of the present conditions.
        samples: samples of earlier sessions of the stratum.
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
        found = (as_reboot_setting(registry.get(name)) for name in spec.reboot_settings)
        self._settings: dict[str, RebootSetting] = {s.name: s for s in found if s is not None}
        self._hard_to_change = HardToChangeFactors.of(spec)
        self._samples = samples
        began = machine_in(then.host) or machine
        self._began, self._level = self._values(began), self._values(machine)
        self._then, self._now = _readings(then), _readings(now)
        self._strata = then, now

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return the readings that changed since the stratum began, apart from varied arguments."""
        then, now = self._independent_readings(self._then), self._independent_readings(self._now)
        return tuple(
            Evidence(kind=BOOT_STATE, note=f"{name}: {now.get(name, '')}")
            for name in sorted(then.keys() | now.keys())
            if then.get(name, "") != now.get(name, "")
        )

    def compared(self) -> tuple[Stratum, Stratum]:
        """Return both strata, reduced to readings that must be equal."""
        then, now = self._strata
        if not self._settings:
            return then, now
        expected = self._expected(
            self._independent_readings(self._then), self._independent_readings(self._now)
        )
        return _with(then, expected), _with(now, self._independent_readings(self._now))

    def _expected(self, then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
        if self._level == self._began:
            return dict(then)
        seen = self._changed_readings()
        if seen is not None:
            return {name: text for name, text in {**then, **seen}.items() if text}
        free = self._free(then, now)
        names = then.keys() | now.keys()
        found = {name: (now if name in free else then).get(name) for name in names}
        return {name: text for name, text in found.items() if text is not None}

    def _changed_readings(self) -> dict[str, str] | None:
        """Return the changed readings of the first boot with these values, if there was one."""
        samples = [
            sample
            for sample in self._samples
            if self._is_present(self._hard_to_change.boot(sample.launch.configuration))
        ]
        if not samples:
            return None
        notes = next((n for n in map(_notes, samples) if n), [])
        return dict(_halves(note) for note in notes)

    def _is_present(self, values: Mapping[str, Value]) -> bool:
        """Return whether the present boot has these values."""
        here = {name: value for name, value in self._level.items() if value is not None}
        return here.keys() == values.keys() and all(
            setting.is_same_value(values[name], here[name])
            for name, setting in self._settings.items()
        )

    def _free(self, then: Mapping[str, str], now: Mapping[str, str]) -> frozenset[str]:
        """Return the readings that another boot may change."""
        levels = (self._began, self._level)
        other = [s for name, s in self._settings.items() if levels[0][name] != levels[1][name]]
        changed = {reading for setting in other for reading in setting.changes}
        if ANY_READING not in changed:
            return frozenset(changed)
        # A changed kernel is never a side effect: a setting has to request it.
        return frozenset(then.keys() | now.keys()) - ({KERNEL_READING} - changed)

    def _values(self, machine: Machine) -> dict[str, Value | None]:
        return {name: setting.default(machine) for name, setting in self._settings.items()}

    def _independent_readings(self, readings: Mapping[str, str]) -> dict[str, str]:
        """Return readings without the kernel and the arguments that the study varies."""
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
