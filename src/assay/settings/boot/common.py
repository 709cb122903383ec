"""Common parts of boot settings: names, costs, evidence and grants."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from assay.machine.boot_state import COMMAND_LINE
from assay.machine.document import Machine, Program
from assay.records import Configuration, Grant, Level, Plan, RequiredBoot, RunFacts, Scope, Value
from assay.settings.base import Suggestion
from assay.settings.evidence import degraded, granted, unverified

BOOT = "boot"
FIRMWARE = "firmware"
ABSENT = "absent"
"""Value of an argument that is missing."""
PRESENT = "present"
"""Value of an argument without a text after it."""
BOOT_S = 120.0
"""Assumed duration of a reboot, in seconds: it decides how many launches share one boot."""
ONLY_ON_REQUEST = "it needs a reboot; name it to vary it"
ANY_READING = "*"
"""Stands for all readings of a machine that a boot may change, except the kernel."""
KERNEL_READING = "the kernel"
"""Reading of the machine with the release of its kernel."""


@dataclass(frozen=True)
class BootSetting:
    """Common parts of settings that need a reboot.

    Attributes:
        scope: part of the system that the setting changes.
        switch_cost_s: cost of a change between two launches, in seconds.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    switch_cost_s: ClassVar[float] = BOOT_S

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the setting."""

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the evidence of the boot; see ``Setting.judge``."""
        return judge_booted(self.name, config[self.name], facts, plan)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason for not suggesting the setting."""
        return ONLY_ON_REQUEST


@dataclass(frozen=True)
class FileEvidence:
    """Content of a file that shows the effect of a boot argument.

    Attributes:
        path: path of the file.
        text: its content; ``None`` if it is missing.
        fits: true if the content matches the argument.
        wanted: description of the expected content.
    """

    path: str
    text: str | None
    fits: bool
    wanted: str

    @property
    def description(self) -> str:
        """Description of the content."""
        return f"{self.path} {'is missing' if self.text is None else f'reads {self.text!r}'}"

    @property
    def missing(self) -> str:
        """Description of the content and of the expected one."""
        return f"{self.description}, not {self.wanted}"


def file_text(machine: Machine, path: str) -> str | None:
    """Return the content of a file in a machine document."""
    found = machine.boot.files.get(path)
    return machine.system_files.get(path) if found is None else found


def missing_words(current: str, required: str) -> str:
    """Return the difference between the present and the required kernel command line.

    Args:
        current: words for the setting in the present boot; empty without any.
        required: required words; empty if the current ones must be removed.
    """
    if not current:
        return f"{COMMAND_LINE} lacks {required}"
    if not required:
        return f"{COMMAND_LINE} has {current}, which must be removed"
    return f"{COMMAND_LINE} has {current}, not {required}"


def booted_action(
    setting: str, needs: str, evidence: str, proofs: Iterable[FileEvidence]
) -> RequiredBoot:
    """Return the action of a value that the present boot has.

    Args:
        setting: name of the setting.
        needs: requirement for the boot, in words.
        evidence: evidence besides files, such as ``/proc/cmdline``.
        proofs: evidence from files.
    """
    proofs = tuple(proofs)
    observed = "; ".join((evidence, *(proof.description for proof in proofs)))
    files = {proof.path: proof.text for proof in proofs if proof.text is not None}
    return RequiredBoot(
        setting=setting,
        requirement=needs,
        observed=observed,
        files=files,
        effect_observed=bool(proofs),
    )


def judge_booted(setting: str, value: Value, facts: RunFacts, plan: Plan) -> Grant:
    """Judge by the evidence before the launch, if it was unchanged at the launch and after it."""
    actions = [a for a in plan.actions if isinstance(a, RequiredBoot) and a.setting == setting]
    if not actions:
        return unverified(value, "the state of the boot was not read")
    action = actions[0]
    for path, then in action.files.items():
        now = facts.changed_system_files.get(path, facts.system_files.get(path, then))
        if now != then:
            why = f"{path} was {then!r} when the study resumed, and {now!r} at the launch"
            return degraded(value, Level.SEEN, why, action.observed)
    return granted(value, Level.SEEN if action.effect_observed else Level.SET, action.observed)
