"""Booting: a study that goes from boot to boot.

Settings of the boot and of the firmware cannot be changed while a study runs. It makes the launches
that the present boot can have, pauses with the change that the next ones need, and is resumed after
the boot. Whether a boot has what a launch needs is read, not believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.errors import InvalidInputError, NotPossibleError, StudyPaused
from assay.machine.boot import BOOT_ID, is_digest
from assay.machine.document import Machine
from assay.records import (
    BootChange,
    Configuration,
    Evidence,
    Kind,
    Launch,
    Sample,
    Stage,
    StudySpec,
    Value,
)
from assay.records.configuration import show_value
from assay.search.space.switching import BOOT_EVIDENCE, HardToChangeFactors
from assay.settings.base import Pending, Refused
from assay.settings.boot import as_reboot_setting
from assay.settings.boot.firmware import FirmwareSetting
from assay.settings.boot.kernel import NAME as KERNEL_SETTING
from assay.settings.registry import Registry

UNKNOWN_VALUE = ""
"""Stands for what a setting of the firmware was that no arm leaves alone and nobody can read."""


class BootPause(StudyPaused):
    """A study waits for another boot.

    Args:
        study_id: whole identity.
        change: that it waits for.
    """

    def __init__(self, study_id: str, change: BootChange) -> None:
        super().__init__(
            f"Study {study_id} is paused: it needs another boot.",
            f"`assay study resume {study_id}` goes on after it.",
        )
        self.study_id = study_id
        self.change = change


class BootCheck:
    """Says whether the present boot has what a launch needs, and tells with it which boot it was.

    Args:
        study_id: whole identity.
        spec: of the study.
        machine: the host, as this sitting found it.
        registry: of its settings.
        samples: of earlier sittings.
        states: what reads otherwise in this boot than when the study began.
        began: the boot in which it began.
        kernel: describes the kernel of this boot, where the study goes from kernel to kernel.
    """

    def __init__(
        self,
        study_id: str,
        spec: StudySpec,
        machine: Machine,
        registry: Registry,
        samples: Sequence[Sample] = (),
        states: Sequence[Evidence] = (),
        began: str | None = None,
        kernel: Evidence | None = None,
    ) -> None:
        self._id = study_id
        self._costly = HardToChangeFactors.of(spec)
        self._machine = machine
        self._registry = registry
        self._warms = spec.warmup != 0
        self._here = machine.boot.id or ""
        self._states = (*states, *((kernel,) if kernel is not None else ()))
        ran = [(sample.launch, boot_of(sample)) for sample in samples]
        mine = [launch for launch, boot in ran if boot == self._here]
        self._warm = {launch.arm for launch in mine}
        self._blocks = {launch.block for launch in mine if launch.stage is Stage.CONFIRM}
        self._told = bool(mine)
        # There was a boot since the study last did anything.
        self._unbrought = (ran[-1][1] if ran else began or self._here) != self._here

    def demand(self, launch: Launch) -> None:
        """Refuse to make a launch in a boot that is not the one that it needs.

        Raises:
            BootPause: it is another one, or has to be one of its own.
            NotPossibleError: no boot could have it.
        """
        if not self._costly.pausing:
            return
        wanted = self._costly.boot(launch.configuration)
        change = required_boot_change(wanted, self._machine, self._registry)
        if change is not None:
            unbrought = self._unbrought and not self._told
            raise BootPause(self._id, msgspec.structs.replace(change, unbrought=unbrought))
        if launch.anew and self._blocks - {launch.block}:
            raise BootPause(
                self._id,
                BootChange(
                    settings=wanted,
                    words=_words(wanted, self._registry),
                    kernel=_kernel(wanted),
                    confirm=_said(wanted, self._machine, self._registry),
                    anew=True,
                ),
            )

    def is_cold(self, launch: Launch) -> bool:
        """Whether an arm is to be warmed up first: a boot leaves nothing in memory."""
        if not self._costly.pausing or not self._warms or launch.stage is Stage.SURVEY:
            return False
        return launch.arm not in self._warm

    def warmed(self, arm: str) -> None:
        """An arm was warmed up."""
        self._warm.add(arm)

    def told(self, sample: Sample) -> Sample:
        """A sample with the boot that it was made in."""
        if not self._costly.pausing:
            return sample
        more = (
            Evidence(kind=BOOT_EVIDENCE, note=self._here),
            *(() if self._told else self._states),
        )
        self._told = True
        self._warm.add(sample.launch.arm)
        if sample.launch.stage is Stage.CONFIRM:
            self._blocks.add(sample.launch.block)
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, *more))


def boot_of(sample: Sample) -> str | None:
    """The boot that a sample was made in."""
    return next((e.note for e in sample.evidence if e.kind == BOOT_EVIDENCE), None)


def required_boot_change(
    wanted: dict[str, Value], machine: Machine, registry: Registry
) -> BootChange | None:
    """What another boot has to bring; ``None`` where the present one has it all.

    Raises:
        NotPossibleError: a value that no boot can have.
    """
    pending: dict[str, Pending] = {}
    configuration = Configuration(wanted)
    for name in wanted:
        answer = registry.get(name).resolve(configuration, machine)
        if isinstance(answer, Refused):
            raise NotPossibleError(
                f"{name}={show_value(wanted[name])} cannot be had: {answer.reason}.", answer.remedy
            )
        if isinstance(answer, Pending):
            pending[name] = answer
    if not pending:
        return None
    firmware: dict[str, str] = {}
    for one in pending.values():
        firmware |= one.firmware
    return BootChange(
        settings=wanted,
        missing=tuple(one.missing for one in pending.values()),
        add=_once(word for one in pending.values() for word in one.add),
        remove=_once(word for one in pending.values() for word in one.remove),
        words=_words(wanted, registry),
        firmware=firmware,
        kernel=_kernel(wanted),
        running=next((one.running for one in pending.values() if one.running), None),
        confirm=_said(wanted, machine, registry),
    )


def boot_settings_of(
    spec: StudySpec, varied: Iterable[str], machine: Machine, registry: Registry
) -> dict[str, Value]:
    """The settings of a study that take a boot, and what they are now.

    Args:
        spec: of the study.
        varied: names of its settings.
        machine, registry: the host, and what can be set.

    Raises:
        InvalidInputError: an arm leaves one alone that nobody can read.
        NotPossibleError: this host does not tell one boot from another.
    """
    found: dict[str, Value] = {}
    for name in sorted(varied):
        setting = as_reboot_setting(registry.get(name))
        if setting is None:
            continue
        now = setting.default(machine)
        alone = spec.kind is Kind.TUNE or any(name not in arm.configuration for arm in spec.arms)
        if now is None and alone:
            raise InvalidInputError(
                f"One arm leaves {name} alone, and nobody can read what it is.",
                f"Say it: --confirm {name}=VALUE, or --verify {name}=FILE.",
            )
        asked = [arm.configuration[name] for arm in spec.arms if name in arm.configuration]
        # As an arm spells it, which counts as the same boot then.
        alike = (value for value in asked if now is not None and setting.alike(value, now))
        found[name] = next(alike, UNKNOWN_VALUE if now is None else now)
        if alone and is_digest(str(found[name])):
            raise InvalidInputError(
                f"One arm leaves {name} alone, and assay keeps a digest of its value only.",
                f"Write the value: --arm {name}=VALUE.",
            )
    if found and machine.boot.id is None:
        raise NotPossibleError(
            f"This host does not tell its boots apart: {BOOT_ID} cannot be read.",
            "A study of boot settings needs it.",
        )
    return found


def _said(names: Iterable[str], machine: Machine, registry: Registry) -> tuple[str, ...]:
    """The settings of which nothing but the user's word tells what they are."""
    settings = (registry.get(name) for name in names)
    return tuple(
        setting.name
        for setting in settings
        if isinstance(setting, FirmwareSetting) and not setting.is_seen
        if setting.name not in machine.boot.witnesses
    )


def _words(wanted: dict[str, Value], registry: Registry) -> tuple[str, ...]:
    settings = ((as_reboot_setting(registry.get(name)), value) for name, value in wanted.items())
    return tuple(word for setting, value in settings if setting for word in setting.words(value))


def _kernel(wanted: dict[str, Value]) -> str | None:
    """Return the release of the kernel that is to run, where the study sets it."""
    value = wanted.get(KERNEL_SETTING)
    return None if value is None else show_value(value)


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
