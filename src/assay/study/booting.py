"""Boots of a study with boot or firmware settings.

These settings cannot be changed while a study runs. The study makes all launches that the present
boot allows, pauses with the required change, and is resumed after the reboot. Whether a boot
satisfies a launch is always read from the machine.
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
"""Placeholder for the unreadable value of a firmware setting that every arm sets."""


class BootPause(StudyPaused):
    """Pause of a study until a reboot.

    Args:
        study_id: complete id.
        change: required boot change.
    """

    def __init__(self, study_id: str, change: BootChange) -> None:
        super().__init__(
            f"Study {study_id} is paused: it needs another boot.",
            f"Reboot, then continue with `assay study resume {study_id}`.",
        )
        self.study_id = study_id
        self.change = change


class BootCheck:
    """Checks that the present boot satisfies a launch, and records the boot of each sample.

    Args:
        study_id: complete id.
        spec: specification of the study.
        machine: machine document of this session.
        registry: registry of its settings.
        samples: samples of earlier sessions.
        states: readings that changed since the study began.
        began: id of the boot in which the study began.
        kernel: description of the present kernel, if the study varies the kernel.
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
        self._hard_to_change = HardToChangeFactors.of(spec)
        self._machine = machine
        self._registry = registry
        self._warms = spec.warmup != 0
        self._here = machine.boot.id or ""
        self._states = (*states, *((kernel,) if kernel is not None else ()))
        ran = [(sample.launch, boot_of(sample)) for sample in samples]
        launches = [launch for launch, boot in ran if boot == self._here]
        self._warm = {launch.arm for launch in launches}
        self._blocks = {launch.block for launch in launches if launch.stage is Stage.CONFIRM}
        self._evidence = bool(launches)
        # The machine was rebooted since the last launch of the study.
        self._rebooted = (ran[-1][1] if ran else began or self._here) != self._here

    def demand(self, launch: Launch) -> None:
        """Raise an error if the present boot does not satisfy a launch.

        Raises:
            BootPause: another boot, or a separate one, is required.
            NotPossibleError: no boot satisfies the launch.
        """
        if not self._hard_to_change.reboot_settings:
            return
        wanted = self._hard_to_change.boot(launch.configuration)
        change = required_boot_change(wanted, self._machine, self._registry)
        if change is not None:
            missing = self._rebooted and not self._evidence
            raise BootPause(self._id, msgspec.structs.replace(change, missing_after_boot=missing))
        if launch.repeat_application and self._blocks - {launch.block}:
            raise BootPause(
                self._id,
                BootChange(
                    settings=wanted,
                    required_arguments=_words(wanted, self._registry),
                    kernel=_kernel(wanted),
                    unconfirmed=_confirmed_settings(wanted, self._machine, self._registry),
                    repeat_boot=True,
                ),
            )

    def is_cold(self, launch: Launch) -> bool:
        """Return whether an arm needs a warm-up launch, because memory is empty after a boot."""
        if (
            not self._hard_to_change.reboot_settings
            or not self._warms
            or launch.stage is Stage.SURVEY
        ):
            return False
        return launch.arm not in self._warm

    def warmed(self, arm: str) -> None:
        """Record the warm-up of an arm."""
        self._warm.add(arm)

    def with_evidence(self, sample: Sample) -> Sample:
        """Return a sample with evidence of its boot."""
        if not self._hard_to_change.reboot_settings:
            return sample
        more = (
            Evidence(kind=BOOT_EVIDENCE, note=self._here),
            *(() if self._evidence else self._states),
        )
        self._evidence = True
        self._warm.add(sample.launch.arm)
        if sample.launch.stage is Stage.CONFIRM:
            self._blocks.add(sample.launch.block)
        return msgspec.structs.replace(sample, evidence=(*sample.evidence, *more))


def boot_of(sample: Sample) -> str | None:
    """Return the id of the boot of a sample."""
    return next((e.note for e in sample.evidence if e.kind == BOOT_EVIDENCE), None)


def required_boot_change(
    wanted: dict[str, Value], machine: Machine, registry: Registry
) -> BootChange | None:
    """Return the required boot change; ``None`` if the present boot satisfies all values.

    Raises:
        NotPossibleError: a value that no boot can have.
    """
    pending: dict[str, Pending] = {}
    configuration = Configuration(wanted)
    for name in wanted:
        answer = registry.get(name).resolve(configuration, machine)
        if isinstance(answer, Refused):
            raise NotPossibleError(
                f"{name}={show_value(wanted[name])} is not possible: {answer.reason}.",
                answer.remedy,
            )
        if isinstance(answer, Pending):
            pending[name] = answer
    if not pending:
        return None
    firmware: dict[str, str] = {}
    for change in pending.values():
        firmware |= change.firmware
    return BootChange(
        settings=wanted,
        missing=tuple(change.missing for change in pending.values()),
        add=_once(word for change in pending.values() for word in change.add),
        remove=_once(word for change in pending.values() for word in change.remove),
        required_arguments=_words(wanted, registry),
        firmware=firmware,
        kernel=_kernel(wanted),
        running_kernel=next(
            (change.running for change in pending.values() if change.running), None
        ),
        unconfirmed=_confirmed_settings(wanted, machine, registry),
    )


def boot_settings_of(
    spec: StudySpec, varied: Iterable[str], machine: Machine, registry: Registry
) -> dict[str, Value]:
    """Return the boot settings of a study with their present values.

    Args:
        spec: specification of the study.
        varied: names of its settings.
        machine, registry: host and registry of settings.

    Raises:
        InvalidInputError: an arm does not set an unreadable setting.
        NotPossibleError: boots of this host cannot be distinguished.
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
                f"One arm does not set {name}, whose present value cannot be read.",
                f"Specify it: --confirm {name}=VALUE, or --verify {name}=FILE.",
            )
        requested = [arm.configuration[name] for arm in spec.arms if name in arm.configuration]
        # In the spelling of an arm, so that both count as the same boot.
        equivalent = (
            value for value in requested if now is not None and setting.is_same_value(value, now)
        )
        found[name] = next(equivalent, UNKNOWN_VALUE if now is None else now)
        if alone and is_digest(str(found[name])):
            raise InvalidInputError(
                f"One arm does not set {name}, of whose present value assay stores only a digest.",
                f"Specify the value: --arm {name}=VALUE.",
            )
    if found and machine.boot.id is None:
        raise NotPossibleError(
            f"Boots of this host cannot be distinguished: {BOOT_ID} is unreadable.",
            "Studies of boot settings require it.",
        )
    return found


def _confirmed_settings(
    names: Iterable[str], machine: Machine, registry: Registry
) -> tuple[str, ...]:
    """Return the settings whose values are only known from the user."""
    settings = (registry.get(name) for name in names)
    return tuple(
        setting.name
        for setting in settings
        if isinstance(setting, FirmwareSetting) and not setting.is_seen
        if setting.name not in machine.boot.firmware_sources
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
