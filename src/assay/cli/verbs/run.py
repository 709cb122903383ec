"""``assay run``: once, under a configuration; transparent."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import errno
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import msgspec

from assay.bundle.files import replacing
from assay.cli.built import program_in
from assay.cli.parser import Parsed
from assay.cli.recipe import recipe_asked, runs_another
from assay.cli.request import configuration_of
from assay.cli.wire import laboratory, program_of, store_of
from assay.cli.workload import build_words, command_of
from assay.errors import BadInput, NotPossible
from assay.launch.building import FOLDER
from assay.launch.command import placeholders_in
from assay.launch.document import launcher_document
from assay.launch.driver import Running
from assay.launch.script import explain
from assay.measure.building import Building, Built
from assay.measure.page_cache import put_in_place
from assay.measure.sample import build_sample
from assay.records import (
    DEFAULT,
    Conclusion,
    Configuration,
    Launch,
    Plan,
    RunFacts,
    Stage,
    Workload,
    encode,
)
from assay.settings.registry import judge_all
from assay.study.laboratory import Laboratory

NOT_FOUND, NOT_EXECUTABLE = 127, 126
STDOUT = "-"
LEFT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Asks for an end that the program may shape: by a terminal, a service manager, a batch system."""
ARRIVING_S = 0.05
"""A signal to a whole group has reached all its members after this time."""
SAME_S = 0.2
"""What follows within this time belongs to the first: timeout(1) signals its child and then the
child's group, and systemd may send SIGHUP behind SIGTERM."""


def run(parsed: Parsed) -> int:
    """Run the verb; gives the program's own exit status."""
    arguments = parsed.arguments
    if arguments.point is not None and arguments.study is None:
        raise BadInput("--point is of a study's front.", "Name the study with --from STUDY.")
    recommended, workload, parallel = _asked(parsed)
    argv = workload.argv
    lab = laboratory(program_of(argv)).divided(parallel)
    asked = configuration_of(arguments.assignments, lab.registry, lab.room)
    configuration = Configuration({**recommended, **asked})
    workload = _with_recipe(arguments, workload, configuration)
    if arguments.explain:
        plan = lab.plan(configuration)
        print(explain(plan, _as_studied(parsed, workload), lab.driver.env), end="")
        return 0
    launch = Launch(
        configuration=configuration,
        arm=str(configuration),
        stage=Stage.CONFIRM,
        block=0,
        position=0,
    )
    with Building(workload, lab.driver.env, lab.host_for(workload)) as building:
        built = building.built(lab.plan(configuration))
        if workload.build is not None:
            found = program_in(built.workload.placeholders[FOLDER], argv, None)
            lab = dataclasses.replace(lab, program=found)
        plan = lab.plan(configuration)
        facts = _launch(lab, plan, built.workload, launch)
    if arguments.record:
        _record(arguments.record, lab, plan, built, launch, facts)
    return _status(facts, argv[0])


def _asked(parsed: Parsed) -> tuple[Configuration, Workload, int | None]:
    """What a study recommends, what is to run (without a command the study's own), and its slots.

    What was found on a part of the CPUs holds on such a part.

    Raises:
        BadInput: no command; no such study, or one that recommends nothing.
    """
    arguments = parsed.arguments
    if parsed.separated or arguments.study is None:
        argv = command_of(parsed.command, separated=parsed.separated, shell=False)
        workload = Workload(argv=argv)
        if arguments.study is None:
            return DEFAULT, workload, None
    recommended, studied, parallel = _from_study(arguments)
    if not parsed.separated:
        workload = Workload(argv=studied.argv, stdin=studied.stdin)
    workload = msgspec.structs.replace(
        workload,
        placeholders=studied.placeholders,
        environment=studied.environment,
        build=studied.build,
    )
    return recommended, workload, parallel


def _with_recipe(
    arguments: argparse.Namespace, workload: Workload, configuration: Configuration
) -> Workload:
    """The workload with what builds it: as asked for here, else as in the study.

    Raises:
        BadInput: a value without a place, or a command that would not run what is built.
    """
    if arguments.build is None and workload.build is not None:
        if FOLDER in placeholders_in(workload.argv):
            return workload
        if any(name.startswith("build.") for name in configuration):
            raise runs_another()
        return msgspec.structs.replace(workload, build=None)
    words, inputs = build_words(arguments), arguments.build_input
    build = recipe_asked(words, inputs, workload.argv, (), (configuration,))
    return msgspec.structs.replace(workload, build=build)


def _as_studied(parsed: Parsed, workload: Workload) -> Workload:
    """The workload of a script: a study's own command runs in its folder, as the study had it."""
    if parsed.separated:
        return workload
    _, studied, _ = _from_study(parsed.arguments)
    return msgspec.structs.replace(workload, cwd=studied.cwd)


def _from_study(arguments: argparse.Namespace) -> tuple[Configuration, Workload, int | None]:
    """What a study recommends, the workload whose placeholders and defaults it had, and its slots.

    Raises:
        BadInput: no such study, or one that recommends nothing.
    """
    with store_of(arguments, create=False) as store:
        study_id = store.find(arguments.study)
        record = store.study(study_id)
    if record.conclusion is None or record.conclusion.recommendation is None:
        raise BadInput(
            f"Study {study_id} recommends nothing.",
            f"`assay study show {study_id}` says where it stands.",
        )
    spec = record.spec
    chosen = record.conclusion.recommendation.settings
    if arguments.point is not None:
        chosen = _point(arguments.point, record.conclusion, study_id)
    return chosen, spec.workload, spec.parallel


def _point(text: str, conclusion: Conclusion, study_id: str) -> Configuration:
    """A point of a front, by its number or as its settings are written.

    Raises:
        BadInput: the study has no front, or no such point.
    """
    names = [point.name for point in conclusion.front]
    if not names:
        raise BadInput(
            f"Study {study_id} has no front to take --point {text} from.",
            f"Leave --point out; `assay study show {study_id}` says what it recommends.",
        )
    if text in names:
        return conclusion.front[names.index(text)].settings
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return conclusion.front[int(text) - 1].settings
    raise BadInput(
        f"The front of study {study_id} has no point {text}.",
        f"It has points 1 to {len(names)}; `assay study show {study_id}` shows them."
        if len(names) > 1
        else f"It has point 1 alone: {names[0]}.",
    )


def _launch(lab: Laboratory, plan: Plan, workload: Workload, launch: Launch) -> RunFacts:
    """One launch with the descriptors of this process."""
    document = launcher_document(
        plan,
        workload,
        launch,
        env=lab.driver.env,
        parent_pid=os.getpid(),
        signals="leave",
    )
    if workload.stdin is None and not plan.instances:
        del document["stdin"]  # inherited: the program is to behave as without assay
    document.pop("cwd", None)
    cached = put_in_place(plan, msgspec.structs.replace(workload, cwd=None), lab.driver.env)
    with _signals_left() as leave_to, lab.driver.start(document) as running:
        leave_to(running)
        running.finished(None)
        facts = running.facts()
    return facts if cached is None else msgspec.structs.replace(facts, cached_files=cached)


@contextlib.contextmanager
def _signals_left() -> Iterator[Callable[[Running], None]]:
    """The first signal is the program's, which may end in its own way; a second ends the tree.

    Gives what is to be called with the launch once there is one: a program may run, and be known
    to whoever sends signals, a moment before its start is known here.
    """
    before = {number: signal.getsignal(number) for number in LEFT}
    first_s: float | None = None
    first: int | None = None
    launch: Running | None = None
    passed = False

    def leave(number: int, frame: FrameType | None) -> None:
        nonlocal first_s, first
        if first_s is None:
            first_s, first = time.monotonic(), number
            pass_on()
        elif time.monotonic() - first_s > SAME_S:
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

    def leave_to(running: Running) -> None:
        nonlocal launch
        launch = running
        pass_on()

    def pass_on() -> None:
        nonlocal passed
        if launch is not None and first is not None and not passed:
            passed = True
            time.sleep(ARRIVING_S)
            launch.pass_on(first)

    heard = [number for number in LEFT if before[number] is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, leave)
    try:
        yield leave_to
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _record(
    name: str,
    lab: Laboratory,
    plan: Plan,
    built: Built,
    launch: Launch,
    facts: RunFacts,
) -> None:
    grants = judge_all(launch.configuration, lab.registry, plan, facts)
    sample = build_sample(launch, built.workload, facts, (), grants, built.evidence)
    line = encode(sample) + b"\n"
    if name == STDOUT:
        # Behind what the program wrote, whose last line may have no end.
        sys.stdout.buffer.write(b"\n" + line)
        sys.stdout.flush()
        return
    with replacing(Path(name)) as file:
        file.write(line)


def _status(facts: RunFacts, word: str) -> int:
    """The program's own end: its status, or its signal once more."""
    if facts.outcome == "exec_failed":
        missing = facts.errno == errno.ENOENT
        print(f"assay: {word!r} cannot be started: {facts.message}", file=sys.stderr)
        return NOT_FOUND if missing else NOT_EXECUTABLE
    if facts.outcome in ("bad_plan", "setup_failed"):
        raise NotPossible(
            f"The launch could not be put in place ({facts.stage}): {facts.message}",
            "`assay doctor` shows what this host allows.",
        )
    number = facts.signal or (signal.SIGINT if facts.outcome == "interrupted" else None)
    if number:
        _end_by(number)
    return facts.exit_status or 0


def _end_by(number: int) -> None:
    """End this process by a signal, without a core file of its own."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError):  # SIGKILL takes no handler, and needs none
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    os.kill(os.getpid(), number)
