"""A study of a boot argument, whose launches are made in a guest that is really booted anew."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from assay.errors import NotPossible
from assay.launch.document import launcher_document
from assay.launch.driver import Driver
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.measure.executor import Node as Place
from assay.measure.executor import Ticket
from assay.measure.sample import build_sample
from assay.records import (
    Arm,
    BootChange,
    Budget,
    Configuration,
    Design,
    DesignKind,
    Granted,
    Kind,
    Launch,
    Metric,
    Plan,
    RunFacts,
    Sample,
    Stage,
    Status,
    StudySpec,
    Workload,
    decode,
)
from assay.records.workload import WALL
from assay.settings.registry import builtin, judge_all
from assay.store import Store, open_store
from assay.study.booting import BootPause, boot_of
from assay.study.laboratory import Laboratory
from assay.study.loop import Listener
from assay.study.session import Result, begin, resume

from .guest import Guest
from .rebooted import RebootedGuest

pytestmark = pytest.mark.vm

SETTING = "boot.isolcpus"
ENV = {"PATH": "/bin"}
MOST_BOOTS = 12
SCRIPT = "echo isolated: $(grep -c 1 /sys/devices/system/cpu/isolated); spin 0.05 0"
ISOLATED = Metric(name="isolated", pattern="isolated: ([01])")


class GuestExecutor:
    """Carries launches out in a guest, through its assay-exec."""

    def __init__(self, guest: RebootedGuest, workload: Workload, folder: Path) -> None:
        self._guest = guest
        self._workload = workload
        self._folder = folder
        self._ended: list[Sample] = []

    def nodes(self) -> list[Place]:
        return [Place("guest")]

    def open(self, node: Place, plan: Plan) -> None:
        assert not plan.system

    def submit(self, launch: Launch, plan: Plan) -> Ticket:
        plan.demand_booted()
        document = launcher_document(
            plan, self._workload, launch, env=ENV, stdout="/tmp/out", stderr="/tmp/err"
        )
        held = self._held(plan)
        self._guest.output(
            f"echo {shlex.quote(json.dumps(document))} >/tmp/plan.json\n"
            "rm -f /tmp/record.json\n"
            "assay-exec --plan /tmp/plan.json --record /tmp/record.json || true\n"
        )
        facts = decode(self._guest.output("cat /tmp/record.json").encode(), RunFacts)
        facts = msgspec.structs.replace(facts, system=held)
        streams = [self._folder / "out", self._folder / "err"]
        for stream in streams:
            stream.write_text(self._guest.output(f"cat /tmp/{stream.name}"))
        grants = judge_all(launch.configuration, builtin(), plan, facts)
        self._ended.append(build_sample(launch, self._workload, facts, streams, grants))
        return Ticket(0)

    def _held(self, plan: Plan) -> dict[str, str]:
        return {path: self._guest.output(f"cat {path}").strip() for path in plan.shown_by}

    def poll(self, timeout_s: float | None) -> list[Sample]:
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, ticket: Ticket) -> None:
        self._ended = []

    def close(self) -> None:
        pass


class Silent:
    """A listener that shows nothing."""

    def began(self, study_id: str) -> None:
        pass

    def warned(self, error: Exception) -> None:
        raise error

    def launching(self, launch: Launch, left: Budget) -> None:
        pass

    def building(self, argv: tuple[str, ...]) -> nullcontext[None]:
        return nullcontext()

    def sampled(self, sample: Sample, race: object, left: Budget) -> None:
        pass

    def ended(self, launches: int) -> None:
        pass


class _Env:
    """What a study needs of a launcher that is in the guest."""

    env = ENV


class Bench:
    """A guest, a study in a store, and the user who boots as the study says."""

    def __init__(self, guest: RebootedGuest, store: Store, folder: Path) -> None:
        self.guest = guest
        self.store = store
        self.folder = folder
        self.changes: list[BootChange] = []
        self.study_id = ""

    @property
    def machine(self) -> Machine:
        """The guest as it was booted."""
        tree = self.folder / f"boot{self.guest.boots}"
        return read_machine(Root(self.guest.record(tree)), env={})

    def laboratory(self) -> Laboratory:
        def executor(spec: StudySpec) -> Any:
            return GuestExecutor(self.guest, spec.workload, self.folder)

        return Laboratory(
            machine=self.machine,
            registry=builtin(),
            driver=cast(Driver, _Env()),
            executor=executor,
        )

    def until_pause(self, step: Callable[[], Result]) -> Result | None:
        try:
            return step()
        except BootPause as pause:
            self.study_id = pause.study_id
            self.changes.append(pause.change)
            return None

    def resume(self) -> Result | None:
        lab = self.laboratory()
        listener = cast(Listener, Silent())
        return self.until_pause(
            lambda: resume(lab, self.store, self.study_id, listener, new_stratum=False)
        )


def a_sweep() -> StudySpec:
    """Two boots of each of two values, and the figures of both."""
    values = ("absent", "1")
    return StudySpec(
        kind=Kind.SWEEP,
        workload=Workload(argv=("sh", "-c", SCRIPT), metrics=(WALL, ISOLATED)),
        budget=Budget(time_s=600.0),
        arms=tuple(
            Arm(name=f"{SETTING}={value}", configuration=Configuration({SETTING: number}))
            for value, number in zip(values, ("absent", 1), strict=True)
        ),
        design=Design(kind=DesignKind.GRID, repeats=2),
        disturbed_above=None,
        pad_environment=False,
    )


@pytest.fixture
def bench(
    guest_kernel: Path,
    guest_programs: dict[str, Path | bytes],
    assay_exec: Path,
    tmp_path: Path,
) -> Iterator[Bench]:
    files = {**guest_programs, "/bin/assay-exec": assay_exec}
    guest = Guest(cpus=2, memory_mib=384, kernel=guest_kernel)
    with (
        RebootedGuest(guest, files) as booted,
        open_store(str(tmp_path / "x.db"), create=True) as store,
    ):
        yield Bench(booted, store, tmp_path)


def test_a_study_goes_from_boot_to_boot(bench: Bench) -> None:
    bench.guest.boot("")
    spec, listener = a_sweep(), cast(Listener, Silent())
    result = bench.until_pause(lambda: begin(bench.laboratory(), bench.store, spec, listener))
    assert result is None
    assert bench.store.study(bench.study_id).status is Status.PAUSED

    # A boot that brings nothing of what is missing: it is told, and waited for once more.
    wanted = next((c for c in bench.changes if c.add), None)
    while result is None and wanted is None and len(bench.changes) < MOST_BOOTS:
        bench.guest.boot("")
        result = bench.resume()
        wanted = next((c for c in bench.changes if c.add), None)
    assert wanted is not None
    assert wanted.add == ("isolcpus=1",)
    assert not wanted.unbrought
    bench.guest.boot("")
    assert bench.resume() is None
    again = bench.changes[-1]
    assert again.unbrought
    assert again.missing == ("/proc/cmdline has no isolcpus, not isolcpus=1",)

    while result is None and len(bench.changes) < MOST_BOOTS:
        bench.guest.boot(" ".join(bench.changes[-1].words))
        result = bench.resume()
    assert result is not None
    assert result.conclusion.blocks == 2
    samples = [s for s in bench.store.samples(bench.study_id, 0) if s.launch.stage is Stage.CONFIRM]
    _every_launch_ran_in_its_boot(samples)
    _each_application_is_a_boot_of_its_own(samples)
    switching = result.conclusion.switching
    assert switching is not None
    assert switching.boots == len({boot_of(s) for s in bench.store.samples(bench.study_id, 0)})
    # The first boot without isolated CPUs is what the study began with; the others read otherwise.
    told = [note for note in result.conclusion.notes if "cpu.isolated 1" in note]
    assert len(told) == 1, result.conclusion.notes


def _every_launch_ran_in_its_boot(samples: list[Sample]) -> None:
    for sample in samples:
        grant = sample.settings[SETTING]
        assert grant.grant is Granted.GRANTED, sample
        assert "/sys/devices/system/cpu/isolated" in (grant.observed or "")
        # The program itself has looked how many CPUs are isolated.
        assert sample.metrics["isolated"] == (sample.launch.configuration[SETTING] == 1)


def _each_application_is_a_boot_of_its_own(samples: list[Sample]) -> None:
    applications = {(s.launch.block, s.launch.arm, boot_of(s)) for s in samples}
    assert len(applications) == 4
    assert len({boot for _, _, boot in applications}) == 4


def test_a_kernel_that_was_changed_too_is_refused(bench: Bench) -> None:
    bench.guest.boot("")
    spec, listener = a_sweep(), cast(Listener, Silent())
    bench.until_pause(lambda: begin(bench.laboratory(), bench.store, spec, listener))
    bench.guest.boot(" ".join((*bench.changes[-1].words, "transparent_hugepage=never")))
    with pytest.raises(NotPossible, match="cannot be pooled") as caught:
        bench.resume()
    assert "boot: not there then, transparent_hugepage=never now" in caught.value.cause
    assert "isol" not in caught.value.cause


def test_an_argument_without_effect_is_told(bench: Bench) -> None:
    """isolcpus of a CPU that is not there: the word is there, and nothing is isolated."""
    bench.guest.boot("nohz_full=1 nohz=off")
    machine = bench.machine
    plan = bench.laboratory().plan(Configuration({"boot.nohz_full": 1}))
    text = machine.boot.found.get("/sys/devices/system/cpu/nohz_full")
    if text == "1":
        assert not plan.pending
    else:
        assert "nohz_full=1 is there, but" in (plan.pending["boot.nohz_full"].reason or "")
