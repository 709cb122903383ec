"""Simulated hosts that record their boots, and studies across their boots."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import cast

import msgspec

from assay.executors.executor import Node as Place
from assay.executors.executor import Ticket
from assay.launch.driver import Driver
from assay.machine.boot import digested_argument
from assay.machine.document import Boot, Cpu, Machine, Node, Rights
from assay.records import (
    Arm,
    BootChange,
    Budget,
    Configuration,
    Kind,
    Launch,
    Outcome,
    Plan,
    Sample,
    Status,
    StudySpec,
    Value,
    Workload,
)
from assay.settings.registry import builtin
from assay.store import Store
from assay.study.booting import BootPause
from assay.study.laboratory import Laboratory
from assay.study.listener import Listener
from assay.study.result import StudyResult
from assay.study.session import begin, resume

MOST_BOOTS = 80


class Host:
    """Simulated machine that can be booted."""

    def __init__(self, *words: str) -> None:
        self.words = list(words)
        self.boots = 1
        self.state = {"thp.enabled": "madvise", "boot": " ".join(sorted(words))}
        self.cpus = 2
        self.nodes = 1
        self.said: dict[str, str] = {}
        self.found: dict[str, str] = {}
        self.kernel = "6.1.0"
        self.configs: dict[str, dict[str, str]] = {}
        self.walls: Callable[[Host, Configuration], float] = lambda host, configuration: 1.0
        self.launched: list[Launch] = []

    def boot(self, change: BootChange) -> None:
        """Boot with a requested change."""
        gone = [word for text in change.remove for word in text.split()]
        self.words = [word for word in self.words if digested_argument(word) not in gone]
        self.words += [word for text in change.add for word in text.split()]
        self.kernel = change.kernel or self.kernel
        self.again()

    def again(self) -> None:
        """Reboot without a change."""
        self.boots += 1
        self.state["boot"] = " ".join(sorted(self.words))
        self.said = {}

    @property
    def machine(self) -> Machine:
        """Return the machine document."""
        cpus = range(self.cpus)
        each = self.cpus // self.nodes
        return Machine(
            arch="x86_64",
            kernel=self.kernel,
            kernel_version=(6, 1),
            model="test",
            cpus=tuple(Cpu(id=n, core=n, siblings=(n,), node=n // each) for n in cpus),
            allowed_cpus=tuple(cpus),
            nodes=tuple(
                Node(id=n, cpus=tuple(c for c in cpus if c // each == n), memory_bytes=1 << 30)
                for n in range(self.nodes)
            ),
            rights=Rights(uid=0),
            default_state=dict(self.state),
            boot=Boot(
                id=f"{self.boots:012x}",
                arguments=tuple(map(digested_argument, self.words)),
                firmware=self.said,
                files=self.found,
                config=self.configs.get(self.kernel, {}),
            ),
        )

    def laboratory(self) -> Laboratory:
        """Return a laboratory for one session."""
        return Laboratory(
            machine=self.machine,
            registry=builtin(),
            driver=cast(Driver, _Env()),
            executor=lambda spec: Simulating(self),
        )


class _Env:
    env: dict[str, str] = {}


class Simulating:
    """Executor of simulated launches with values from the host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._ended: list[Sample] = []

    def nodes(self) -> list[Place]:
        return [Place("test")]

    def open(self, node: Place, plan: Plan) -> None:
        raise AssertionError("nothing is applied within a boot")

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        plan.demand_booted()
        wall_s = self._host.walls(self._host, launch.configuration)
        self._host.launched.append(launch)
        self._ended.append(
            Sample(launch=launch, outcome=Outcome.OK, wall_s=wall_s, metrics={"wall_s": wall_s})
        )
        return Ticket(0)

    def poll(self, timeout_s: float | None) -> list[Sample]:
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, ticket: Ticket) -> None: ...
    def ask_to_end(self) -> float:
        return 0.0

    def close(self) -> None: ...


class Silent:
    def started(self, study_id: str) -> None: ...
    def noticed(self, text: str) -> None: ...
    def watching(self, latest: object) -> None: ...
    def launching(self, launch: Launch, left: Budget) -> None: ...
    def warned(self, error: Exception) -> None: ...
    def sampled(self, sample: Sample, race: object, left: Budget) -> None: ...

    def ending(self, grace_s: float) -> None: ...
    def ended(self, launches: int) -> None: ...
    def building(self, argv: tuple[str, ...]) -> nullcontext[None]:
        return nullcontext()


QUIET = cast(Listener, Silent())


def comparing(*arms: dict[str, Value], **asked: object) -> StudySpec:
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("./app",)),
        budget=Budget(launches=400),
        arms=tuple(Arm(name=str(Configuration(a)), configuration=Configuration(a)) for a in arms),
    )
    return msgspec.structs.replace(spec, **asked)


def driven(
    host: Host, store: Store, spec: StudySpec, seen: Callable[[BootPause], None] | None = None
) -> StudyResult:
    """Return the result of a study whose user boots as requested."""
    study_id: str | None = None
    for _ in range(MOST_BOOTS):
        try:
            if study_id is None:
                return begin(host.laboratory(), store, spec, QUIET)
            return resume(host.laboratory(), store, study_id, QUIET, new_stratum=False)
        except BootPause as pause:
            study_id = pause.study_id
            assert store.study(study_id).status is Status.PAUSED
            if seen is not None:
                seen(pause)
            host.boot(pause.change)
    raise AssertionError("it never ends")
