"""Simulated, seeded studies for the tests of the report.

Nothing here is a measurement. Times come from a product of effects and log-normal noise; claims are
computed from them with a plain normal interval, which is enough to draw.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from assay.machine.document import Cpu, HugePages, Machine, Node, Rights
from assay.records import (
    DEFAULT,
    Arm,
    ArmResult,
    Budget,
    Choices,
    Claim,
    Conclusion,
    Configuration,
    Design,
    DesignKind,
    EffectKind,
    EffectVerdict,
    Evidence,
    FactorEffect,
    Goal,
    Grant,
    GrantStatus,
    Kind,
    Launch,
    Level,
    Metric,
    Outcome,
    Parameter,
    Progress,
    Range,
    Recommendation,
    Sample,
    Series,
    Space,
    Stage,
    Status,
    SteadyPart,
    Stratum,
    StudySpec,
    Until,
    Value,
    Verdict,
    Workload,
)
from assay.reporting.inputs import ReportInput
from assay.search.conclusion.progress_notes import progress_notes
from assay.search.model.explanation import explanation_of
from assay.stats.shift import shifts, spread_ratio
from assay.stats.summary import summarise

START = 1_760_000_000.0
ENGINE = "0.1.0"

EFFECTS: dict[str, dict[Value, float]] = {
    "threads": {1: 1.31, 2: 0.97, 4: 1.12},
    "malloc": {"glibc": 1.0, "jemalloc": 0.953, "tcmalloc": 0.962, "mimalloc": 0.949},
    "thp": {"never": 1.04, "madvise": 1.0, "always": 0.984},
    "cpu.isa": {"prescott": 1.0, "haswell": 0.71, "skylakex": 0.64},
}


def machine() -> Machine:
    """Return a virtual machine with two hardware threads of one core."""
    cpus = tuple(
        Cpu(id=i, core=0, siblings=(0, 1), package=0, node=0, l3=0, max_khz=3_500_000)
        for i in range(2)
    )
    return Machine(
        arch="x86_64",
        kernel="6.18.5",
        kernel_version=(6, 18),
        model="Intel(R) Xeon(R) Processor @ 2.60GHz",
        cpus=cpus,
        allowed_cpus=(0, 1),
        nodes=(Node(id=0, cpus=(0, 1), memory_bytes=8 * 2**30, distances=(10,)),),
        rights=Rights(uid=0, capabilities=frozenset({"sys_nice", "sys_admin"}), min_nice=-20),
        flags=frozenset({"avx2", "avx512f", "sse4_2", "fma"}),
        libraries={"jemalloc": "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},
        huge_pages=HugePages(enabled="madvise", defrag="madvise", size_bytes=2 * 2**20),
        memory_bytes=8 * 2**30,
        memory_limit_bytes=4 * 2**30,
        cgroup="hybrid",
        hypervisor="KVM",
        default_state={"thp.enabled": "madvise", "swappiness": "60", "governor": "performance"},
    )


def stratum(number: int = 0) -> Stratum:
    return Stratum(
        number=number,
        program_digest="9f2c4e0d1b7a6655",
        kernel="6.18.5",
        cpus=(0, 1),
        default_state={"thp.enabled": "madvise"},
        assay_version=ENGINE,
        machine="a1b2c3d4e5f60718",
        model="Intel(R) Xeon(R) Processor @ 2.60GHz",
    )


class Lab:
    """Generator of consecutive samples with a simulated clock."""

    def __init__(self, seed: int, base_s: float = 2.4, noise: float = 0.012) -> None:
        self.random = random.Random(seed)
        self.base_s = base_s
        self.noise = noise
        self.clock = START
        self.samples: list[Sample] = []

    def run(
        self,
        configuration: Configuration,
        stage: Stage,
        block: int,
        position: int,
        arm: str | None = None,
        outcome: Outcome = Outcome.OK,
        factor: float | None = None,
        cap_s: float | None = None,
        more: Mapping[str, float] | None = None,
    ) -> Sample:
        effect = factor if factor is not None else true_effect(configuration)
        slow = 1.09 if self.random.random() < 0.03 else 1.0
        wall = self.base_s * effect * slow * math.exp(self.random.gauss(0.0, self.noise))
        wall = round(wall, 6)
        if outcome is Outcome.TIMED_OUT:
            cap_s = cap_s if cap_s is not None else self.base_s * 2
            wall = cap_s
        good = outcome is Outcome.OK
        sample = Sample(
            launch=Launch(
                configuration=configuration,
                arm=arm if arm is not None else str(configuration),
                stage=stage,
                block=block,
                position=position,
                timeout_s=cap_s,
            ),
            outcome=outcome,
            exit_status=0 if good else 1 if outcome is Outcome.FAILED else None,
            signal=9 if outcome is Outcome.TIMED_OUT else None,
            message=None if good else "exit status 1" if outcome is Outcome.FAILED else "timed out",
            wall_s=wall,
            user_s=round(wall * 1.7, 6),
            sys_s=round(wall * 0.06, 6),
            peak_bytes=312_000_000,
            peak_anon_bytes=268_435_456,
            metrics={"wall_s": wall, **(more or {})} if good else {},
            settings={name: grant_of(name, value) for name, value in configuration.items()},
            evidence=(
                Evidence(
                    kind="steal",
                    value=round(self.random.random() * 4e-3, 5),
                    unit="s",
                    external=True,
                ),
                Evidence(
                    kind="foreign_load",
                    value=round(self.random.random() * 0.05, 4),
                    unit="CPUs",
                    external=True,
                ),
            ),
            started_at=round(self.clock, 3),
            launcher_version=ENGINE,
        )
        self.clock += wall + 0.01
        self.samples.append(sample)
        return sample

    def report(
        self,
        configuration: Configuration,
        stage: Stage,
        block: int,
        position: int,
        arm: str,
        gain: float,
        *,
        early: bool = False,
    ) -> None:
        """Add a launch that reports its speed and loss, with a checkpoint every 50 steps."""
        launch = math.exp(self.random.gauss(0.0, self.noise))
        steps = range(1, 61 if early else 201)
        speeds, losses, times, now = [], [], [], 0.4
        for step in steps:
            seconds = 0.05 / (gain * launch) * (1 + 0.5 * math.exp(-step / 10))
            seconds *= math.exp(self.random.gauss(0.0, 0.04)) * (8.0 if step % 50 == 0 else 1.0)
            now += seconds
            times.append(round(now, 4))
            speeds.append(round(32.0 / seconds, 2))
            losses.append(round(2.3 * math.exp(-step / 60) + 0.03 * self.random.random(), 4))
        series = {
            name: thinned(times, steps, values, 2 if name == "sps" and not early else 1)
            for name, values in (("sps", speeds), ("loss", losses))
        }
        begin = 30 if early else 50
        part = SteadyPart(
            begin_step=float(begin),
            begin_s=times[begin - 1],
            end_step=float(steps[-1]),
            end_s=times[-1],
            first_report_s=times[0],
            period_steps=50.0,
            periods=(steps[-1] - begin) // 50,
            whole_periods=steps[-1] - begin >= 50,
            ended_early=early,
        )
        value = 32.0 * (steps[-1] - begin) / (times[-1] - times[begin - 1])
        metrics = {"sps": round(value, 3), "loss": statistics.fmean(losses[begin:])}
        sample = self.run(configuration, stage, block, position, arm, factor=1.0)
        self.samples[-1] = msgspec.structs.replace(
            sample,
            outcome=Outcome.ENOUGH,
            exit_status=None,
            metrics=metrics,
            series=series,
            steady={"sps": part, "loss": part},
        )


def thinned(
    times: Sequence[float], steps: Sequence[int], values: Sequence[float], size: int
) -> Series:
    """Return a series with intervals of some reports each."""
    groups = [slice(i, i + size) for i in range(0, len(values), size)]
    single = size == 1
    return Series(
        times_s=tuple(times[g][-1] for g in groups),
        steps=tuple(float(steps[g][-1]) for g in groups),
        values=tuple(statistics.fmean(values[g]) for g in groups),
        minima=() if single else tuple(min(values[g]) for g in groups),
        maxima=() if single else tuple(max(values[g]) for g in groups),
        counts=() if single else tuple(len(values[g]) for g in groups),
    )


def true_effect(configuration: Configuration) -> float:
    return math.prod(EFFECTS.get(n, {}).get(v, 1.0) for n, v in configuration.items())


def grant_of(name: str, value: Value) -> Grant:
    if name == "thp" and value == "always":
        return Grant(
            value=value,
            status=GrantStatus.DEGRADED,
            level=Level.SEEN,
            reason="the system has madvise: only areas that the allocator asks for are huge",
            observed="AnonHugePages 48 MiB",
        )
    if name == "cpu.isa":
        return Grant(
            value=value,
            status=GrantStatus.GRANTED,
            level=Level.EFFECTIVE,
            observed=f"Core: {value}",
        )
    level = Level.SEEN if name in ("malloc", "threads", "thp") else Level.SET
    return Grant(value=value, status=GrantStatus.GRANTED, level=level)


def claim(
    samples: Iterable[Sample], a: str, b: str, metric: Metric, *, margin: float = 0.01
) -> Claim:
    """Return a claim on two arms from their blocks, with a normal interval."""
    values: dict[str, dict[int, float]] = {a: {}, b: {}}
    for sample in samples:
        if sample.launch.arm in values and metric.name in sample.metrics:
            values[sample.launch.arm][sample.launch.block] = sample.metrics[metric.name]
    seen = [list(values[arm].values()) for arm in (a, b)]
    blocks = sorted(values[a].keys() & values[b].keys())
    logs = [math.log(values[b][k] / values[a][k]) for k in blocks]
    mean, half = statistics.fmean(logs), 3.0 * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(mean - half), math.exp(mean + half)
    better = Verdict.FASTER if (mean < 0) == (metric.goal is Goal.LOWER) else Verdict.SLOWER
    verdict = Verdict.UNCLEAR
    if 1 - margin <= low and high <= 1 + margin:
        verdict = Verdict.SAME
    elif high < 1 or low > 1:
        verdict = better
    return Claim(
        a=a,
        b=b,
        metric=metric.name,
        ratio=math.exp(mean),
        ci=(low, high),
        verdict=verdict,
        blocks=len(blocks),
        margin=margin,
        alpha=0.05,
        method="mean",
        blocks_needed=160 if verdict is Verdict.UNCLEAR else None,
        spread_ratio=spread_ratio(*seen),
        shift={f"p{100 * s.p:.0f}": s.ratio for s in shifts(*seen) if s.ratio is not None},
    )


def arm_result(
    samples: Iterable[Sample], name: str, configuration: Configuration, metric: Metric
) -> ArmResult:
    own = [s for s in samples if s.launch.arm == name]
    values = [s.metrics[metric.name] for s in own if metric.name in s.metrics]
    summary = summarise(values) if values else None
    return ArmResult(
        name=name,
        configuration=configuration,
        summary={metric.name: summary} if summary else {},
        failures=sum(s.outcome is Outcome.FAILED for s in own),
        timeouts=sum(s.outcome is Outcome.TIMED_OUT for s in own),
    )


def space() -> Space:
    reasons = {
        "threads": "the program maps an OpenMP runtime and the machine has 2 CPUs",
        "malloc": "the program allocates from many threads",
        "thp": "the program uses more than 128 MiB of anonymous memory",
        "cpu.isa": "the program maps OpenBLAS, which may misread this processor",
    }
    return Space(
        parameters=tuple(
            Parameter(name=n, domain=Choices(options=tuple(v)), reason=reasons[n])
            for n, v in EFFECTS.items()
        )
    )


def tune_spec(seed: int = 7, **workload: object) -> StudySpec:
    return StudySpec(
        kind=Kind.TUNE,
        workload=Workload(
            argv=("python3", "examples/digits.py", "--components", "32"),
            **workload,  # type: ignore[arg-type]
        ),
        budget=Budget(time_s=600.0),
        space=space(),
        seed=seed,
    )


def configurations(number: int, seed: int) -> list[Configuration]:
    names = list(EFFECTS)
    every = [
        Configuration(dict(zip(names, values, strict=True)))
        for values in itertools.product(*EFFECTS.values())
    ]
    random.Random(seed).shuffle(every)
    return every[:number]


def search_stage(lab: Lab, tried: list[Configuration], first_block: int = 1) -> int:
    """Blocks of one default launch and five proposals, then the best three again."""
    block = first_block
    for i in range(0, len(tried), 5):
        lab.run(DEFAULT, Stage.SEARCH, block, 0)
        for position, configuration in enumerate(tried[i : i + 5], 1):
            outcome = Outcome.OK
            if lab.random.random() < 0.04:
                outcome = Outcome.TIMED_OUT
            lab.run(configuration, Stage.SEARCH, block, position, outcome=outcome)
        block += 1
    best = sorted(tried, key=true_effect)[:3]
    for _ in range(3):
        for position, configuration in enumerate([DEFAULT, *best]):
            lab.run(configuration, Stage.SEARCH, block, position)
        block += 1
    return block


def tune(configurations_tried: int = 25, seed: int = 7, confirm_blocks: int = 14) -> ReportInput:
    """Return a study with search, reduction, confirmation and a clear winner."""
    lab, spec = Lab(seed), tune_spec(seed)
    metric = spec.workload.objective
    for i in range(3):
        lab.run(DEFAULT, Stage.GAUGE, 0, i)
    tried = configurations(configurations_tried, seed)
    block = search_stage(lab, tried)
    winner = min(tried, key=true_effect)
    reduced = winner.without("thp")
    for _ in range(4):
        arms = [winner, *(winner.without(name) for name in winner)]
        for position, configuration in enumerate(arms):
            lab.run(configuration, Stage.REDUCE, block, position)
        block += 1
    for _ in range(confirm_blocks):
        order = [DEFAULT, reduced]
        lab.random.shuffle(order)
        for position, configuration in enumerate(order):
            lab.run(configuration, Stage.CONFIRM, block, position)
        block += 1
    confirmed = [s for s in lab.samples if s.launch.stage is Stage.CONFIRM]
    shown = claim(confirmed, "default", str(reduced), metric)
    script = run_script(reduced)
    conclusion = Conclusion(
        kind=Kind.TUNE,
        metric="wall_s",
        arms=(
            arm_result(confirmed, "default", DEFAULT, metric),
            arm_result(confirmed, str(reduced), reduced, metric),
        ),
        claims=(shown,),
        recommendation=Recommendation(
            settings=reduced,
            script=script,
            sentence=f"With {reduced} the program needs {(1 - shown.ratio) * 100:.1f} % less wall "
            "time than with the default.",
            claim=shown,
        ),
        noise_floor=None,
        launches=len(lab.samples),
        configurations=configurations_tried,
        stop_reason="The claim was decided to the asked precision.",
        notes=("2 of 14 blocks showed load from outside on the CPUs of the program.",),
    )
    return report_of(lab, spec, conclusion, script)


def crowd(number: int = 300, seed: int = 11) -> ReportInput:
    """Return a search over many configurations, stopped before confirmation."""
    lab, spec = Lab(seed), tune_spec(seed)
    for block, start in enumerate(range(0, number, 5)):
        lab.run(DEFAULT, Stage.SEARCH, block, 0)
        for i in range(start, min(start + 5, number)):
            tried = Configuration({"arg.tile": i + 1, "threads": 1 + i % 4})
            lab.run(tried, Stage.SEARCH, block, 1 + i - start, factor=0.6 + i / number)
    return replace(report_of(lab, spec, None), status=Status.RUNNING)


def sly() -> ReportInput:
    """Return a study whose script contains invisible characters."""
    return replace(tune(6), script="#!/bin/sh\nexec ./program \u202e# gnp.exe\n")


def keep_default(seed: int = 5) -> ReportInput:
    """Return a study without a better configuration."""
    whole = tune(6, seed)
    assert whole.conclusion is not None
    keep = Recommendation(
        settings=DEFAULT,
        script="",
        sentence="Keep the default: no configuration that was tried was shown to be better.",
    )
    return replace(
        whole, script="", conclusion=_with(whole.conclusion, recommendation=keep, notes=())
    )


def interrupted(seed: int = 7) -> ReportInput:
    """Return a study that was interrupted during the search."""
    whole = tune(25, seed)
    return replace(
        whole,
        samples=whole.samples[:29],
        conclusion=None,
        explanation=None,
        script="",
        status=Status.INTERRUPTED,
    )


def compare(seed: int = 3, arms: int = 3, blocks: int = 20) -> ReportInput:
    """Return a comparison of levels of a compressor."""
    lab = Lab(seed, base_s=0.42, noise=0.02)
    names = [f"zstd -{level} -T2 words.tar" for level in (3, 5, 1, 7, 9)][:arms]
    factors = dict(zip(names, (1.0, 1.38, 0.71, 1.9, 2.6), strict=False))
    chosen = {n: Configuration({"command": n}) for n in names}
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=tuple(names[0].split())),
        arms=tuple(Arm(name=n, configuration=c) for n, c in chosen.items()),
        budget=Budget(time_s=120.0),
        seed=seed,
    )
    for block in range(blocks):
        order = list(names)
        lab.random.shuffle(order)
        for position, name in enumerate(order):
            lab.run(chosen[name], Stage.CONFIRM, block, position, name, factor=factors[name])
    metric = spec.workload.objective
    conclusion = Conclusion(
        kind=Kind.COMPARE,
        metric="wall_s",
        arms=tuple(arm_result(lab.samples, n, c, metric) for n, c in chosen.items()),
        claims=tuple(claim(lab.samples, names[0], n, metric) for n in names[1:]),
        noise_floor=None,
        launches=len(lab.samples),
        configurations=arms,
        stop_reason="Every comparison was decided to the asked precision.",
    )
    return report_of(lab, spec, conclusion)


def progress(seed: int = 12, blocks: int = 6) -> ReportInput:
    """Return a search whose launches report a speed, with checkpoints, and a loss."""
    speed = Metric(
        name="sps", unit="samples/s", goal=Goal.HIGHER, progress=Progress(pattern="sps: (.*)")
    )
    loss = Metric(name="loss", progress=Progress(pattern="loss: (.*)"))
    lab = Lab(seed, base_s=12.0, noise=0.01)
    workload = Workload(
        argv=("python", "train.py", "{w}"),
        placeholders={"w": "1"},
        metrics=(speed, loss),
        requested_metrics=("sps", "loss"),
    )
    spec = msgspec.structs.replace(tune_spec(seed), workload=workload, until=Until())
    arms = {
        "default": (DEFAULT, 1.0),
        "arg.w=2": (Configuration({"arg.w": "2"}), 1.2),
        "arg.w=8": (Configuration({"arg.w": "8"}), 0.6),
    }
    for position, (name, (settings, gain)) in enumerate(arms.items()):
        lab.report(settings, Stage.SEARCH, 0, position, name, gain, early=gain < 1.0)
    for block in range(1, blocks + 1):
        for position, name in enumerate(("default", "arg.w=2")):
            settings, gain = arms[name]
            lab.report(settings, Stage.CONFIRM, block, position, name, gain)
    confirmed = [s for s in lab.samples if s.launch.stage is Stage.CONFIRM]
    found = claim(confirmed, "default", "arg.w=2", speed)
    results = tuple(
        arm_result(confirmed, name, arms[name][0], speed) for name in ("default", "arg.w=2")
    )
    conclusion = Conclusion(
        kind=Kind.TUNE,
        metric="sps",
        arms=results,
        claims=(found,),
        recommendation=Recommendation(
            settings=arms["arg.w=2"][0],
            script="",
            claim=found,
            sentence="arg.w=2 raises sps by 20 %.",
        ),
        launches=len(lab.samples),
        configurations=3,
        stop_reason="The confirmation was precise enough.",
        notes=tuple(progress_notes(spec, lab.samples, results)),
    )
    return report_of(lab, spec, conclusion)


def null(seed: int = 4) -> ReportInput:
    """Return a comparison of identical arms: the noise floor."""
    lab = Lab(seed, base_s=0.05, noise=0.03)
    names = ("sort words.txt", "sort words.txt (again)")
    chosen = Configuration({"command": "sort words.txt"})
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(argv=("sort", "words.txt")),
        arms=tuple(Arm(name=n, configuration=chosen) for n in names),
        budget=Budget(launches=60),
        null=True,
    )
    for block in range(30):
        for position, name in enumerate(names):
            lab.run(chosen, Stage.CONFIRM, block, position, name)
    metric = spec.workload.objective
    floor = claim(lab.samples, names[0], names[1], metric)
    conclusion = Conclusion(
        kind=Kind.COMPARE,
        metric="wall_s",
        arms=tuple(arm_result(lab.samples, n, chosen, metric) for n in names),
        claims=(floor,),
        noise_floor=floor,
        launches=60,
        configurations=1,
        stop_reason="The budget of launches is spent.",
    )
    return report_of(lab, spec, conclusion)


def sweep(seed: int = 8, blocks: int = 6) -> ReportInput:
    """Return a grid of two settings with a failing cell and an effect."""
    lab = Lab(seed, base_s=1.1, noise=0.01)
    sizes, allocators = (1, 4, 16), ("jemalloc", "tcmalloc")
    cells = [
        Configuration({"arg.jobs": size, "malloc": name}) for size in sizes for name in allocators
    ]
    arms = [Arm(name="default", configuration=DEFAULT)]
    arms += [Arm(name=str(c), configuration=c) for c in cells]
    factors = dict(zip((a.name for a in arms), (1.0, 1.0, 1.02, 0.7, 0.74, 0.9, 1.0), strict=True))
    failing = arms[-1]
    spec = StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("./app", "--jobs", "{jobs}")),
        arms=tuple(arms),
        space=Space(
            parameters=(
                Parameter(name="arg.jobs", domain=Range(1, 16, step=4, log=True), default=1),
                Parameter(name="malloc", domain=Choices(options=allocators)),
            )
        ),
        design=Design(kind=DesignKind.GRID, repeats=blocks, notes=("2 of 8 cells are ruled out",)),
        budget=Budget(time_s=300.0),
        seed=seed,
    )
    for attempt in range(2):
        lab.run(failing.configuration, Stage.SURVEY, attempt, 0, outcome=Outcome.FAILED)
    for block in range(blocks):
        order = [arm for arm in arms if arm is not failing]
        lab.random.shuffle(order)
        for position, arm in enumerate(order):
            name = arm.name
            lab.run(arm.configuration, Stage.CONFIRM, block, position, name, factor=factors[name])
    metric = spec.workload.objective
    conclusion = Conclusion(
        kind=Kind.SWEEP,
        metric="wall_s",
        arms=tuple(arm_result(lab.samples, a.name, a.configuration, metric) for a in arms),
        claims=tuple(claim(lab.samples, "default", a.name, metric) for a in arms[1:-1]),
        effects=(
            FactorEffect(
                kind=EffectKind.MAIN,
                factors=("arg.jobs",),
                low=1,
                high=16,
                ratio=0.89,
                ci=(0.87, 0.91),
                verdict=EffectVerdict.FASTER,
                blocks=blocks,
                alpha=0.01,
                method="mean",
            ),
            FactorEffect(
                kind=EffectKind.INTERACTION,
                factors=("arg.jobs", "malloc"),
                ratio=1.03,
                ci=(0.99, None),
                verdict=EffectVerdict.UNCLEAR,
                blocks=blocks,
                alpha=0.01,
                method="mean",
                aliases=(("cpu.isa", "nice"),),
            ),
        ),
        launches=len(lab.samples),
        configurations=len(arms),
        blocks=blocks,
        stop_reason=f"All {blocks} blocks were run.",
        notes=("2 of 8 cells are ruled out",),
    )
    return report_of(lab, spec, conclusion)


def measure(seed: int = 2, launches: int = 24) -> ReportInput:
    """Return a measurement with an objective from the output."""
    metric = Metric(name="images_per_s", unit="images/s", goal=Goal.HIGHER, pattern="ips: (.*)")
    lab = Lab(seed, base_s=1.2)
    spec = StudySpec(
        kind=Kind.MEASURE,
        workload=Workload(argv=("train", "--epochs", "1"), metrics=(metric,)),
        arms=(Arm(name="default", configuration=DEFAULT),),
        budget=Budget(time_s=60.0),
        precision=0.01,
    )
    for block in range(launches):
        rate = 840.0 * math.exp(lab.random.gauss(0, 0.01))
        lab.run(DEFAULT, Stage.CONFIRM, block, 0, more={"images_per_s": round(rate, 3)})
    result = arm_result(lab.samples, "default", DEFAULT, metric)
    summary = result.summary["images_per_s"]
    half = 2.2 * (summary.sem or 0.0)
    summary = _with(summary, ci=(summary.mean - half, summary.mean + half))
    conclusion = Conclusion(
        kind=Kind.MEASURE,
        metric="images_per_s",
        arms=(_with(result, summary={"images_per_s": summary}),),
        launches=launches,
        configurations=1,
        stop_reason="The interval is narrower than 1 % of the mean.",
    )
    return report_of(lab, spec, conclusion)


def single(seed: int = 1) -> ReportInput:
    """Return a study with one launch."""
    return replace(measure(seed, 4), samples=measure(seed, 4).samples[:1], conclusion=None)


def all_failed() -> ReportInput:
    """Return a study of a program that always fails."""
    lab, spec = Lab(9), tune_spec()
    for i in range(3):
        lab.run(DEFAULT, Stage.GAUGE, 0, i, outcome=Outcome.FAILED)
    return replace(report_of(lab, spec, None), status=Status.FAILED)


def troubled(seed: int = 8) -> ReportInput:
    """Return a study whose winner has failures, time-outs and refused settings."""
    whole = tune(12, seed)
    assert whole.conclusion is not None and whole.conclusion.recommendation is not None
    name = str(whole.conclusion.recommendation.settings)
    changed = []
    for i, sample in enumerate(whole.samples):
        if sample.launch.arm == name and sample.launch.stage is Stage.CONFIRM:
            if i % 5 == 0:
                cap = _with(sample.launch, timeout_s=5.0)
                sample = _with(sample, outcome=Outcome.TIMED_OUT, metrics={}, launch=cap)
            elif i % 7 == 0:
                sample = _with(sample, outcome=Outcome.FAILED, metrics={}, exit_status=139)
            else:
                lost = Grant(
                    value="x",
                    status=GrantStatus.UNVERIFIED,
                    level=Level.SET,
                    reason="the program ended before it could be read",
                )
                sample = _with(sample, settings={**sample.settings, "malloc": lost})
        changed.append(sample)
    return replace(whole, samples=tuple(changed), strata=(stratum(0), stratum(1)))


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "$\\frac{1}{2$ $name ${title}",
    "\x1b[31mred\x1b[0m\x00\x07",
    "\u202egnp.exe \u2066isolated",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u2028line\u2029paragraph",
    '=HYPERLINK("http://x")',
    "a|b`c\nd",
    "\udcff\udc80 bytes",
    "-->]]><!--",
    "\U0001f600 \u4f60\u597d " + "w" * 3000,
)


def hostile() -> ReportInput:
    """Return a study whose external text is hostile."""
    lab = Lab(6)
    spec = StudySpec(
        kind=Kind.COMPARE,
        workload=Workload(
            argv=("sh", "-c", *HOSTILE),
            metrics=(Metric(name="wall_s", unit="s"),),
            cwd="/tmp/<b>x</b>",
        ),
        arms=tuple(Arm(name=t, configuration=Configuration({f"env.{t[:20]}": t})) for t in HOSTILE),
        budget=Budget(launches=100),
    )
    for block in range(4):
        for position, arm in enumerate(spec.arms):
            sample = lab.run(arm.configuration, Stage.CONFIRM, block, position, arm.name)
            name = next(iter(arm.configuration))
            bad = Grant(
                value=arm.name, status=GrantStatus.DEGRADED, reason=arm.name, observed=arm.name
            )
            lab.samples[-1] = _with(
                sample,
                settings={name: bad},
                message=arm.name,
                evidence=(Evidence(kind=arm.name, value=1.0, unit=arm.name, note=arm.name),),
            )
    metric = spec.workload.objective
    conclusion = Conclusion(
        kind=Kind.COMPARE,
        metric="wall_s",
        arms=tuple(arm_result(lab.samples, a.name, a.configuration, metric) for a in spec.arms),
        claims=tuple(claim(lab.samples, HOSTILE[0], n, metric) for n in HOSTILE[1:]),
        launches=len(lab.samples),
        configurations=len(spec.arms),
        stop_reason=HOSTILE[0],
        notes=HOSTILE,
    )
    report = report_of(lab, spec, conclusion, "\n".join(HOSTILE))
    strange = _with(report.machine, model=HOSTILE[0], default_state={HOSTILE[1]: HOSTILE[2]})
    return replace(report, study_id=HOSTILE[1], machine=strange)


def run_script(configuration: Configuration) -> str:
    lines = ["#!/bin/sh", "# Runs the winner of the study without assay.", "set -eu"]
    names = {"threads": "OMP_NUM_THREADS", "cpu.isa": "OPENBLAS_CORETYPE"}
    for name, value in configuration.items():
        if name in names:
            lines.append(f"export {names[name]}={value}")
        elif name == "malloc":
            lines.append("export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libmimalloc.so.2")
    lines.append("exec python3 examples/digits.py --components 32")
    return "\n".join(lines) + "\n"


def report_of(
    lab: Lab, spec: StudySpec, conclusion: Conclusion | None, script: str = ""
) -> ReportInput:
    return ReportInput(
        study_id="s7f3a",
        spec=spec,
        strata=(stratum(),),
        samples=tuple(lab.samples),
        conclusion=conclusion,
        machine=machine(),
        assay_version=ENGINE,
        created_at=START,
        elapsed_s=round(lab.clock - START, 3),
        script=script,
        status=Status.DONE if conclusion else None,
        explanation=explanation_of(spec, lab.samples, conclusion),
    )


def _with(record, **changes):
    """Return a record with changed fields."""
    import msgspec

    return msgspec.structs.replace(record, **changes)
