"""A study on the host whose launches run in a guest that is really rebooted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import msgspec

from assay.executors.executor import Node as Place
from assay.executors.executor import Ticket
from assay.executors.sample import build_sample
from assay.launch.document import launcher_document
from assay.launch.driver import Driver
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.machine.root import Root
from assay.records import (
    BootChange,
    Budget,
    Launch,
    Plan,
    RunFacts,
    Sample,
    StudySpec,
    Workload,
    decode,
)
from assay.settings.registry import builtin, judge_all
from assay.store import Store
from assay.study.booting import BootPause
from assay.study.laboratory import Laboratory
from assay.study.listener import Listener
from assay.study.result import StudyResult
from assay.study.session import resume

from .rebooted import RebootedGuest

ENV = {"PATH": "/bin"}


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
        facts = msgspec.structs.replace(facts, system_files=held)
        streams = [self._folder / "out", self._folder / "err"]
        for stream in streams:
            stream.write_text(self._guest.output(f"cat /tmp/{stream.name}"))
        grants = judge_all(launch.configuration, builtin(), plan, facts)
        self._ended.append(build_sample(launch, self._workload, facts, streams, grants))
        return Ticket(0)

    def _held(self, plan: Plan) -> dict[str, str]:
        return {path: self._guest.output(f"cat {path}").strip() for path in plan.boot_files}

    def poll(self, timeout_s: float | None) -> list[Sample]:
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, ticket: Ticket) -> None:
        self._ended = []

    def ask_to_end(self) -> float:
        return 0.0

    def close(self) -> None:
        pass


class Silent:
    """A listener without output."""

    def started(self, study_id: str) -> None:
        pass

    def warned(self, error: Exception) -> None:
        raise error

    def noticed(self, text: str) -> None:
        pass

    def watching(self, latest: object) -> None:
        pass

    def launching(self, launch: Launch, left: Budget) -> None:
        pass

    def building(self, argv: tuple[str, ...]) -> nullcontext[None]:
        return nullcontext()

    def sampled(self, sample: Sample, race: object, left: Budget) -> None:
        pass

    def ending(self, grace_s: float) -> None:
        pass

    def ended(self, launches: int) -> None:
        pass


class _Env:
    """The launcher of a study, which is in the guest."""

    env = ENV


class Bench:
    """A guest, a study in a store, and a user who boots as the study requests."""

    def __init__(self, guest: RebootedGuest, store: Store, folder: Path) -> None:
        self.guest = guest
        self.store = store
        self.folder = folder
        self.changes: list[BootChange] = []
        self.study_id = ""

    @property
    def machine(self) -> Machine:
        """Return the guest as it was booted."""
        tree = self.folder / f"boot{self.guest.boots}"
        return read_machine(Root(self.guest.record(tree)), env={}, config=True)

    def laboratory(self) -> Laboratory:
        def executor(spec: StudySpec) -> Any:
            return GuestExecutor(self.guest, spec.workload, self.folder)

        return Laboratory(
            machine=self.machine,
            registry=builtin(),
            driver=cast(Driver, _Env()),
            executor=executor,
        )

    def until_pause(self, step: Callable[[], StudyResult]) -> StudyResult | None:
        try:
            return step()
        except BootPause as pause:
            self.study_id = pause.study_id
            self.changes.append(pause.change)
            return None

    def resume(self) -> StudyResult | None:
        lab = self.laboratory()
        listener = cast(Listener, Silent())
        return self.until_pause(
            lambda: resume(lab, self.store, self.study_id, listener, new_stratum=False)
        )
