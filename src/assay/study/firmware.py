"""Firmware settings that assay cannot read: values from the user, files or commands."""

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
"""Prefix of a command, to distinguish it from a file."""
TIMEOUT_S = 60.0
_MAX_BYTES = 4096


def with_firmware_values(
    laboratory: Laboratory,
    spec: StudySpec,
    confirmed: Mapping[str, str],
    samples: Sequence[Sample] = (),
) -> Laboratory:
    """Return the laboratory with firmware values from files, commands and the user.

    Values that the user confirmed earlier in the same boot remain valid; each source is read once
    in a session.

    Args:
        laboratory: the host.
        spec: specification of the study, with the sources.
        confirmed: values confirmed by the user, by setting.
        samples: samples of earlier sessions.

    Raises:
        InvalidInputError: a value for a setting that needs none, or that has a source.
        NotPossibleError: unreadable file, failed command, or contradictory value.
    """
    for name in (*confirmed, *spec.verify):
        demand_unreadable(name, laboratory.registry)
    for name in confirmed.keys() & spec.verify.keys():
        raise InvalidInputError(
            f"--confirm {name}: this study reads it from "
            f"{spec.verify[name].removeprefix(COMMAND_MARK)}.",
            "Omit --confirm.",
        )
    boot = laboratory.machine.boot
    new = {
        name: source for name, source in spec.verify.items() if name not in boot.firmware_sources
    }
    read = {name: read_firmware_value(name, source) for name, source in new.items()}
    sources = {name: source.removeprefix(COMMAND_MARK) for name, source in spec.verify.items()}
    before = _confirmed_before(spec, boot.id, samples, laboratory.registry)
    values = {**before, **boot.firmware, **confirmed, **read}
    for name, value in before.items():
        if values[name] != value:
            raise NotPossibleError(
                f"{name} was {value} at the last launch of this boot, and is now reported as "
                f"{values[name]}.",
                "Firmware settings change only with a boot: reboot, then resume.",
            )
    if not values:
        return laboratory
    boot = msgspec.structs.replace(boot, firmware=values, firmware_sources=sources)
    return replace(laboratory, machine=msgspec.structs.replace(laboratory.machine, boot=boot))


def demand_varied(names: Iterable[str], spec: StudySpec) -> None:
    """Raise an error for values of firmware settings that a study does not vary.

    Args:
        names: names of confirmed or verified settings.
        spec: prepared specification, with its boot settings.

    Raises:
        InvalidInputError: the study does not vary it; names a similar setting.
    """
    for name in names:
        if name in spec.reboot_settings:
            continue
        near = nearest(name, tuple(spec.reboot_settings))
        has = ", ".join(spec.reboot_settings) or "none"
        raise InvalidInputError(
            f"{name}: this study does not vary it. Its boot settings: {has}.",
            f"Did you mean {near}?" if near else "Omit it.",
        )


def demand_unreadable(name: str, registry: Registry) -> None:
    """Raise an error for values of settings that assay reads from the machine.

    Raises:
        InvalidInputError: the setting is readable or requires no reboot.
    """
    setting = registry.get(name)
    if not isinstance(setting, FirmwareSetting) or setting.is_seen:
        reason = "is read from the machine" if as_reboot_setting(setting) else "requires no reboot"
        raise InvalidInputError(
            f"{name} {reason}; its value must not be specified.",
            "--confirm and --verify are for settings firmware.NAME that the machine does not show.",
        )


def read_firmware_value(name: str, source: str) -> str:
    """Return the value of a setting from a file or the output of a command.

    Raises:
        NotPossibleError: unreadable file, or failed command.
    """
    if not source.startswith(COMMAND_MARK):
        text = LIVE.read_text(source, _MAX_BYTES)
        if text is None:
            raise NotPossibleError(f"Cannot read {source}, the source of {name}.", _SOURCE_REMEDY)
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
            f"The command {argv[0]}, the source of {name}, failed: {error}.", _SOURCE_REMEDY
        ) from error
    if done.returncode:
        raise NotPossibleError(
            f"The command {argv[0]}, the source of {name}, exited with status {done.returncode}: "
            f"{done.stderr.strip()[-200:]}",
            _SOURCE_REMEDY,
        )
    return done.stdout.strip()[:_MAX_BYTES]


_SOURCE_REMEDY = "Correct it, or begin the study with another --verify."


def _confirmed_before(
    spec: StudySpec, here: str | None, samples: Sequence[Sample], registry: Registry
) -> dict[str, str]:
    """Return the values confirmed at the last launch of this boot."""
    hard_to_change = HardToChangeFactors.of(spec)
    mine = (s for s in reversed(samples) if here is not None and boot_of(s) == here)
    newest = next(mine, None)
    if newest is None:
        return {}
    values = hard_to_change.boot(newest.launch.configuration).items()
    settings = ((registry.get(name), value) for name, value in values)
    return {
        setting.name: show_value(value)
        for setting, value in settings
        if isinstance(setting, FirmwareSetting) and not setting.is_seen
    }
