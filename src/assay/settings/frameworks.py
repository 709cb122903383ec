"""``threads.torch.intra|inter`` and ``threads.tf.intra|inter``: pools sized by calls.

PyTorch ("CPU threading and TorchScript inference", ``torch.set_num_threads``,
``torch.set_num_interop_threads``) and TensorFlow (``tf.config.threading``) size these pools by
calls. In TensorFlow, 0 is the default and selects the size automatically; PyTorch requires a
positive count. An import hook (``hook/sitecustomize.py``, found through ``PYTHONPATH``) makes the
call right after the program imports the framework, and reads the number then and at exit. Evidence:
*seen*, in the report of the hook; without an import there is none.
"""

from __future__ import annotations

from pathlib import Path

from assay.machine.document import Machine, Program
from assay.records import (
    Configuration,
    Domain,
    Grant,
    GrantStatus,
    Level,
    Plan,
    Range,
    RunFacts,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion, set_variables
from assay.settings.evidence import granted, judge_environment, refused, unverified
from assay.units import show_count

HOOK = str(Path(__file__).parent / "hook")
"""Directory of the import hook."""

_AT_IMPORT, _AT_EXIT = "import", "exit"


class FrameworkThreads(BaseSetting, frozen=True):
    """The size of one thread pool of a framework.

    Attributes:
        pool: its name in the hook, such as ``torch.intra``.
        summary: one-line description.
        package: the imported package.
        framework: name of the framework in messages.
        decides_at_zero: true if 0 makes the framework choose the size.
    """

    pool: str
    summary: str
    package: str
    framework: str
    decides_at_zero: bool = False

    @property
    def name(self) -> str:
        """Name with its family."""
        return f"threads.{self.pool}"

    def domain(self, machine: Machine) -> Domain:
        """Return any count; ``resolve`` refuses 0 if it has no meaning."""
        return Range(0, max(256, 4 * len(machine.cpus)), step=1)

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Return the reason: ``threads`` sizes the pools within operations already."""
        if self.package not in program.packages:
            return f"no import of {self.package} was found in the program"
        return f"threads sizes {self.framework} too; name it to vary this pool alone"

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return the import hook with the count."""
        value = config[self.name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            least = 0 if self.decides_at_zero else 1
            return Refused(
                f"invalid value: {self.name}={value!r}", f"Use a count of at least {least}."
            )
        if value == 0 and not self.decides_at_zero:
            return Refused(
                f"{self.framework} requires a positive count, not 0; without the setting"
                f" {self.framework} chooses the size itself",
            )
        if ":" in HOOK:
            return Refused(f"{HOOK!r} cannot be added to PYTHONPATH: it contains a colon")
        return Resolved(
            set_variables({"PYTHONPATH": HOOK, **self._variables(config)}),
            note=f"only for Python programs that import {self.package}"
            + (f"; with 0 {self.framework} chooses the size itself" if value == 0 else ""),
        )

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the report of the hook in every process that imported the framework."""
        value = config[self.name]
        # A hook that never ran leaves no report: that is clearer than its variable in the
        # environment.
        report = _report_lines(self.pool, facts)
        if not report:
            held = judge_environment(value, self._variables(config), facts)
            if held.status is not GrantStatus.GRANTED:
                return held
            return unverified(value, f"no Python process of the program imported {self.package}")
        errors = [text for _, _, text in report if text.startswith("error: ")]
        if errors:
            return refused(
                value, Level.SEEN, f"{self.package} rejected it: {errors[0][7:]}", errors[0]
            )
        read = [(moment, text) for _, moment, text in report if moment in (_AT_IMPORT, _AT_EXIT)]
        if not read:
            return unverified(value, "the count was set, but the program ended before it was read")
        for moment, text in read:
            if text != str(value):
                why = (
                    "the program changed the size itself"
                    if moment == _AT_EXIT
                    else "the framework used another size"
                )
                return refused(value, Level.SEEN, why, f"{text} at {moment}")
        processes = len({process for process, _, _ in report})
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


def _report_lines(pool: str, facts: RunFacts) -> list[tuple[str, str, str]]:
    """Return process, moment and text of each line of the hook's report on a pool."""
    lines = (line.split(" ", 3) for line in (facts.hook_report or "").splitlines())
    return [(line[0], line[2], line[3]) for line in lines if len(line) == 4 and line[1] == pool]
