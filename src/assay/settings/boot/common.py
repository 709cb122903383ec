"""What settings of the boot share: names, costs, what showed them, and grants from that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.machine.document import Machine
from assay.records import Grant, Level, Plan, RequiredBoot, RunFacts, Value
from assay.settings.evidence import degraded, granted, unverified

BOOT = "boot"
FIRMWARE = "firmware"
ABSENT = "absent"
"""The value of an argument that is not there."""
PRESENT = "present"
"""The value of an argument that is there without one."""
BOOT_S = 120.0
"""What a boot is taken to last: it says how many launches are worth making in one."""
ONLY_ON_REQUEST = "what takes another boot is tried where it is named"
ANY_READING = "*"
"""Stands for every reading of a machine that a boot may change, but for the kernel."""
KERNEL_READING = "the kernel"
"""The reading of a machine that holds the release of its kernel."""


@dataclass(frozen=True)
class FileEvidence:
    """What a file says of a boot argument.

    Attributes:
        path: of the file.
        text: what it holds; ``None`` where it is not there.
        fits: whether that is what the argument asks for.
        wanted: what it should hold, in words.
    """

    path: str
    text: str | None
    fits: bool
    wanted: str

    @property
    def told(self) -> str:
        """What was read."""
        return f"{self.path} {'is not there' if self.text is None else f'reads {self.text!r}'}"

    @property
    def missing(self) -> str:
        """What was read, and what should have been."""
        return f"{self.told}, not {self.wanted}"


def file_text(machine: Machine, path: str) -> str | None:
    """What a machine document has of a file."""
    found = machine.boot.found.get(path)
    return machine.system.get(path) if found is None else found


def booted_action(
    setting: str, needs: str, where: str, proofs: Iterable[FileEvidence]
) -> RequiredBoot:
    """The action of a value that the present boot has.

    Args:
        setting: its name.
        needs: what a boot has to have for it, in words.
        where: what showed it beside files: ``/proc/cmdline``.
        proofs: what files showed.
    """
    proofs = tuple(proofs)
    told = "; ".join((where, *(proof.told for proof in proofs)))
    files = {proof.path: proof.text for proof in proofs if proof.text is not None}
    return RequiredBoot(
        setting=setting, needs=needs, observed=told, files=files, shown=bool(proofs)
    )


def judge_booted(setting: str, value: Value, facts: RunFacts, plan: Plan) -> Grant:
    """By what showed it before the launch, where that was still so at the launch, and after it."""
    actions = [a for a in plan.actions if isinstance(a, RequiredBoot) and a.setting == setting]
    if not actions:
        return unverified(value, "nobody looked at how the kernel was booted")
    action = actions[0]
    for path, then in action.files.items():
        now = facts.system_changed.get(path, facts.system.get(path, then))
        if now != then:
            why = f"{path} held {then!r} when the study went on, and {now!r} at the launch"
            return degraded(value, Level.SEEN, why, action.observed)
    return granted(value, Level.SEEN if action.shown else Level.SET, action.observed)
