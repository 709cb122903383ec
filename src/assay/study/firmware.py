"""Firmware: what somebody says of settings that nobody can read from the machine."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from assay.errors import InvalidInputError, NotPossibleError, nearest
from assay.machine.root import LIVE
from assay.records import Sample, StudySpec
from assay.records.configuration import show_value
from assay.search.space.switching import HardToChangeFactors
from assay.settings.boot import as_reboot_setting
from assay.settings.boot.firmware import FirmwareSetting
from assay.settings.registry import Registry
from assay.study.booting import boot_of
from assay.study.laboratory import Laboratory

COMMAND_MARK = "!"
"""In front of a command that is asked, in place of a file that is read."""
TIMEOUT_S = 60.0
_MOST_BYTES = 4096


def with_firmware_values(
    laboratory: Laboratory,
    spec: StudySpec,
    confirmed: Mapping[str, str],
    samples: Sequence[Sample] = (),
) -> Laboratory:
    """The laboratory with what files, commands and the user say of its firmware.

    What the user said in the same boot before still holds, and what was asked in this sitting is
    not asked again.

    Args:
        laboratory: the host.
        spec: of the study, which says what is asked.
        confirmed: what the user says, by setting.
        samples: of earlier sittings.

    Raises:
        InvalidInputError: what is said is not of a setting that is said, or is asked already.
        NotPossibleError: a file cannot be read, a command fails, or what is said cannot be true.
    """
    for name in (*confirmed, *spec.verify):
        demand_unreadable(name, laboratory.registry)
    for name in confirmed.keys() & spec.verify.keys():
        raise InvalidInputError(
            f"--confirm {name}: this study asks {spec.verify[name].removeprefix(COMMAND_MARK)} for it.",
            "Leave --confirm out.",
        )
    boot = laboratory.machine.boot
    new = {name: source for name, source in spec.verify.items() if name not in boot.witnesses}
    read = {name: read_firmware_value(name, source) for name, source in new.items()}
    witnesses = {name: source.removeprefix(COMMAND_MARK) for name, source in spec.verify.items()}
    before = _said_before(spec, boot.id, samples, laboratory.registry)
    said = {**before, **boot.said, **confirmed, **read}
    for name, value in before.items():
        if said[name] != value:
            raise NotPossibleError(
                f"{name} was {value} when this very boot made its last launch, and is now said to "
                f"be {said[name]}.",
                "A firmware is set before a boot: boot, and resume then.",
            )
    if not said:
        return laboratory
    boot = msgspec.structs.replace(boot, said=said, witnesses=witnesses)
    return replace(laboratory, machine=msgspec.structs.replace(laboratory.machine, boot=boot))


def demand_varied(names: Iterable[str], spec: StudySpec) -> None:
    """Refuse words on firmware that a study leaves alone: nothing would be made of them.

    Args:
        names: of what is said, or asked.
        spec: prepared, so that it names what takes a boot.

    Raises:
        InvalidInputError: it has no such setting; names the one that was meant.
    """
    for name in names:
        if name in spec.pausing:
            continue
        near = nearest(name, tuple(spec.pausing))
        has = ", ".join(spec.pausing) or "none"
        raise InvalidInputError(
            f"{name}: this study does not set it. Of what takes a boot it sets: {has}.",
            f"Did you mean {near}?" if near else "Leave it out.",
        )


def demand_unreadable(name: str, registry: Registry) -> None:
    """Refuse words on settings that are read.

    Raises:
        InvalidInputError: it is one.
    """
    setting = registry.get(name)
    if not isinstance(setting, FirmwareSetting) or setting.is_seen:
        what = "is read from the machine" if as_reboot_setting(setting) else "takes no boot"
        raise InvalidInputError(
            f"{name} {what}: nobody has to say what it is.",
            "--confirm and --verify are for firmware.NAME that the topology does not show.",
        )


def read_firmware_value(name: str, source: str) -> str:
    """What a file holds, or a command prints, of a setting.

    Raises:
        NotPossibleError: it cannot be read, or fails.
    """
    if not source.startswith(COMMAND_MARK):
        text = LIVE.read_text(source, _MOST_BYTES)
        if text is None:
            raise NotPossibleError(f"{source}, which is to tell {name}, cannot be read.", _RIGHT)
        return text
    argv = shlex.split(source.removeprefix(COMMAND_MARK))
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotPossibleError(
            f"{argv[0]}, which is to tell {name}, failed: {error}.", _RIGHT
        ) from error
    if done.returncode:
        raise NotPossibleError(
            f"{argv[0]}, which is to tell {name}, ended with {done.returncode}: "
            f"{done.stderr.strip()[-200:]}",
            _RIGHT,
        )
    return done.stdout.strip()[:_MOST_BYTES]


_RIGHT = "Put it right, or begin the study with another --verify."


def _said_before(
    spec: StudySpec, here: str | None, samples: Sequence[Sample], registry: Registry
) -> dict[str, str]:
    """What was said, by the launches that were made in this boot."""
    costly = HardToChangeFactors.of(spec)
    mine = (s for s in reversed(samples) if here is not None and boot_of(s) == here)
    newest = next(mine, None)
    if newest is None:
        return {}
    values = costly.boot(newest.launch.configuration).items()
    settings = ((registry.get(name), value) for name, value in values)
    return {
        setting.name: show_value(value)
        for setting, value in settings
        if isinstance(setting, FirmwareSetting) and not setting.is_seen
    }
