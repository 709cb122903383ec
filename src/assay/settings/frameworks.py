"""``threads.torch.intra|inter`` and ``threads.tf.intra|inter``: pools that only a program can size.

PyTorch ("CPU threading and TorchScript inference", ``torch.set_num_threads``,
``torch.set_num_interop_threads``) and TensorFlow (``tf.config.threading``) size these pools by
calls. TensorFlow takes 0 as "decide yourself", its default; PyTorch expects a positive count. An
import hook (``hook/sitecustomize.py``, found by ``PYTHONPATH``) makes the call right after the
program has imported the framework, and asks for the number then and when the program ends.
Evidence: *seen*, in what it wrote; a program that never imports the framework shows nothing.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.machine.document import Machine, Program
from assay.records import (
    Configuration,
    Domain,
    EnvSet,
    Grant,
    GrantStatus,
    Level,
    Plan,
    Range,
    RunFacts,
    Scope,
    Value,
)
from assay.settings.base import Refused, Resolved, Suggestion
from assay.settings.evidence import granted, judge_environment, refused, unverified
from assay.units import show_count

HOOK = str(Path(__file__).parent / "hook")
"""Folder of the import hook."""

_AT_IMPORT, _AT_EXIT = "import", "exit"


class FrameworkThreads(msgspec.Struct, frozen=True):
    """The size of one pool of a framework.

    ``pool`` is its name in the hook (``torch.intra``), ``package`` what a program imports. With
    ``decides_at_zero`` a count of 0 makes the framework choose the size itself.
    """

    pool: str
    summary: str
    package: str
    framework: str
    decides_at_zero: bool = False
    scope: Scope = Scope.PROCESS
    switch_cost_s: float = 0.0
    evidence: Level = Level.SEEN

    @property
    def name(self) -> str:
        """With its family."""
        return f"threads.{self.pool}"

    def domain(self, machine: Machine) -> Domain:
        """Any count, as of ``threads``, and 0; where that means nothing, the plan says why."""
        return Range(0, max(256, 4 * len(machine.cpus)), step=1)

    def default(self, machine: Machine) -> Value | None:
        """The framework's own, which follows the processor and the environment."""
        return None

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """``threads`` sizes the pools within operations; the others are for those who ask."""
        if self.package not in program.packages:
            return f"the program was not found to import {self.package}"
        return f"threads sizes {self.framework} too; name it to vary this pool alone"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """The hook, and the count that it is to ask for."""
        value = config[self.name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            least = 0 if self.decides_at_zero else 1
            return Refused(f"{self.name} cannot be {value!r}", f"Give a count from {least} on.")
        if value == 0 and not self.decides_at_zero:
            return Refused(
                f"{self.framework}'s call expects a positive count, not 0; left out, "
                f"{self.framework} chooses the size itself",
            )
        if ":" in HOOK:
            return Refused(f"{HOOK!r} cannot stand in PYTHONPATH: it holds a colon")
        return Resolved(
            (EnvSet(name="PYTHONPATH", value=HOOK), *_set(self._variables(config))),
            note=f"Python programs only, when they import {self.package}"
            + (f"; with 0 {self.framework} chooses the size itself" if value == 0 else ""),
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """By what the hook read back in every process that imported the framework."""
        value = config[self.name]
        # A hook that never ran has written nothing, which is told better than by its variable.
        told = _told(self.pool, facts)
        if not told:
            held = judge_environment(value, self._variables(config), facts)
            if held.grant is not GrantStatus.GRANTED:
                return held
            return unverified(value, f"no Python of the program imported {self.package}")
        errors = [text for _, _, text in told if text.startswith("error: ")]
        if errors:
            return refused(
                value, Level.SEEN, f"{self.package} did not take it: {errors[0][7:]}", errors[0]
            )
        read = [(moment, text) for _, moment, text in told if moment in (_AT_IMPORT, _AT_EXIT)]
        if not read:
            return unverified(value, "it was asked for, but the program ended before it was read")
        for moment, text in read:
            if text != str(value):
                why = "the program sized it itself" if moment == _AT_EXIT else "it took another"
                return refused(value, Level.SEEN, why, f"{text} at {moment}")
        processes = len({process for process, _, _ in told})
        more = f" in {show_count(processes, 'process', 'processes')}" if processes > 1 else ""
        return granted(value, Level.SEEN, f"{self.framework} says {value}{more}")

    def _variables(self, config: Configuration) -> dict[str, str]:
        return {f"ASSAY_HOOK_{self.pool.upper().replace('.', '_')}": str(config[self.name])}


FRAMEWORKS = tuple(
    FrameworkThreads(
        f"{short}.{pool}", f"threads {where} operations of {name}", package, name, short == "tf"
    )
    for short, package, name in (("torch", "torch", "PyTorch"), ("tf", "tensorflow", "TensorFlow"))
    for pool, where in (("intra", "within"), ("inter", "among"))
)


def _set(variables: dict[str, str]) -> tuple[EnvSet, ...]:
    return tuple(EnvSet(name=name, value=text) for name, text in variables.items())


def _told(pool: str, facts: RunFacts) -> list[tuple[str, str, str]]:
    """Process, moment and text of each line that the hook wrote of a pool."""
    lines = (line.split(" ", 3) for line in (facts.hook_report or "").splitlines())
    return [(line[0], line[2], line[3]) for line in lines if len(line) == 4 and line[1] == pool]
