"""Studies of one program on several days, boots, kernels and machines, as in a store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.machine.document import Boot, Cpu, Machine, Node, Rights
from assay.records import (
    Arm,
    Budget,
    Configuration,
    Kind,
    Launch,
    Outcome,
    Sample,
    Stage,
    Status,
    Stratum,
    StudySpec,
    Workload,
    to_builtins,
)
from assay.records.comparison import ConditionSource
from assay.search.occasions.measured import measured_condition
from assay.search.occasions.pool import OccasionCandidate
from assay.search.occasions.side import MeasuredCondition
from assay.search.races.calibrate import calibrated_arms
from assay.store import open_store

DAY_S = 86400.0
START_S = 1.7e9
DEFAULT = Arm(name="default", configuration=Configuration())


@dataclass(frozen=True)
class Conditions:
    """Properties in which two occasions may differ."""

    day: float = 0.0
    boot: str | None = "aaaaaaaaaaaa"
    kernel: str = "6.1.0"
    machine: str = "machine-1"
    model: str = "Processor One"
    program: str = "00ff"
    config: tuple[tuple[str, str], ...] = ()


def machine_of(where: Conditions) -> Machine:
    cpus = tuple(Cpu(id=n, core=n, siblings=(n,)) for n in (0, 1))
    return Machine(
        arch="x86_64",
        kernel=where.kernel,
        kernel_version=(6, 1),
        model=where.model,
        cpus=cpus,
        allowed_cpus=(0, 1),
        nodes=(Node(id=0, cpus=(0, 1), memory_bytes=1 << 34),),
        rights=Rights(uid=1000),
        boot=Boot(id=where.boot, arguments=("quiet",), config=dict(where.config)),
    )


def stratum_of(where: Conditions, number: int = 0) -> Stratum:
    return Stratum(
        number=number,
        program_digest=where.program,
        kernel=where.kernel,
        cpus=(0, 1),
        default_state={"thp": "madvise"},
        launch_environment={"variable LANG": "c0de"},
        assay_version="0.1.0",
        machine=where.machine,
        model=where.model,
        host=to_builtins(machine_of(where)),
    )


@dataclass(frozen=True)
class Study:
    """A study with one stratum."""

    id: str
    spec: StudySpec
    stratum: Stratum
    samples: tuple[Sample, ...]

    @property
    def prospect(self) -> OccasionCandidate:
        return OccasionCandidate(self.id, self.spec, self.stratum, lambda: self.samples)

    def side(
        self,
        arm: str | None = None,
        metric: str | None = None,
        source: ConditionSource = ConditionSource.STUDY,
    ) -> MeasuredCondition:
        return measured_condition(
            self.id,
            source,
            self.id,
            self.spec,
            self.stratum,
            iter(self.samples),  # a large study is read once
            arm=arm,
            metric=metric,
        )

    def stored(self, db: Path) -> str:
        """Store it and return its id."""
        with open_store(str(db), create=True) as store:
            found = store.create_study(self.spec, self.stratum, self.samples[0].started_at)
            for sample in self.samples:
                store.add_sample(found, 0, sample)
            store.set_status(found, Status.DONE)
        return found


def measure(
    name: str,
    values: Sequence[float],
    where: Conditions = Conditions(),
    *,
    kind: Kind = Kind.MEASURE,
    arms: Sequence[Arm] = (DEFAULT,),
    **workload: Any,
) -> Study:
    """Return a study in which all arms have these times, block by block."""
    asked = {"argv": ("./solve", "9")} | workload
    spec = StudySpec(
        kind=kind, workload=Workload(**asked), budget=Budget(launches=100), arms=tuple(arms)
    )
    ran = calibrated_arms(spec) if kind is Kind.CALIBRATE else tuple(arms)
    began_s = START_S + where.day * DAY_S
    samples = [
        Sample(
            launch=Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.CONFIRM,
                block=block,
                position=position,
                block_arms=tuple(ran) if position == 0 else None,
            ),
            outcome=Outcome.OK,
            exit_status=0,
            wall_s=value,
            metrics={"wall_s": value},
            started_at=began_s + block,
        )
        for block, value in enumerate(values)
        for position, arm in enumerate(ran)
    ]
    return Study(name, spec, stratum_of(where), tuple(samples))


def times(seed: int, n: int = 30, mean: float = 1.0, spread: float = 0.02) -> list[float]:
    """Return log-normal times with exactly this mean and standard deviation of the logarithm."""
    drawn = np.random.default_rng(seed).standard_normal(n)
    drawn = (drawn - drawn.mean()) / drawn.std(ddof=1)
    return [float(v) for v in np.exp(math.log(mean) + spread * drawn)]


def calibrations(
    means: Sequence[float], apart_days: float = 1.0, *, boots: bool = True, **where: Any
) -> list[Study]:
    """Return calibrations on successive days with these means."""
    return [
        measure(
            f"cal{number}",
            times(100 + number, mean=mean),
            Conditions(
                **{
                    "day": 20 + apart_days * number,
                    "boot": f"{number:012x}" if boots else "aaaaaaaaaaaa",
                    **where,
                }
            ),
            kind=Kind.CALIBRATE,
        )
        for number, mean in enumerate(means)
    ]
