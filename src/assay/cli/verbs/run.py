"""``assay run``: once, under a configuration; transparent."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import NamedTuple

import msgspec

from assay.cli.parsing.parser import Parsed
from assay.cli.process.signal_relay import SignalRelay
from assay.cli.requests.ready import Ready, is_plain, launch_of, plain
from assay.errors import InvalidInputError, NotPossibleError
from assay.executors.evidence.drift import changed_since, drift_evidence
from assay.executors.evidence.shares import demand_share, read_share, share_evidence
from assay.launch.document import launcher_document
from assay.launch.running import LauncherKilledError
from assay.partition.names import PARTITION_KIND, SHARE_MEMORY_KIND
from assay.records import Evidence, Grant, GrantStatus, Observation, PageCache, Plan, RunFacts
from assay.records.configuration import show_value
from assay.records.facts import CachedFiles
from assay.units import show_count
from assay.untrusted import clean

NOT_FOUND, NOT_EXECUTABLE = 127, 126


def run(parsed: Parsed) -> int:
    """Run the verb; gives the program's own exit status."""
    arguments = parsed.arguments
    if arguments.point is not None and arguments.study is None:
        raise InvalidInputError(
            "--point is of a study's front.", "Name the study with --from STUDY."
        )
    if arguments.cell is not None and arguments.study is None:
        raise InvalidInputError(
            "--cell is of a study's table.", "Name the sweep or comparison with --from STUDY."
        )
    if arguments.unproven and arguments.study is None:
        raise InvalidInputError(
            "--unproven is of a study's recommendation.", "Name the study with --from STUDY."
        )
    if arguments.outputs_may_differ and arguments.study is None:
        raise InvalidInputError(
            "--outputs-may-differ is of a study's recommendation.",
            "Name the study with --from STUDY.",
        )
    if arguments.explain:
        from assay.cli.requests.configured import explained

        print(explained(parsed), end="")
        return 0
    write_record = _recorder(arguments.record, arguments.observe)
    with _ready(parsed) as ready:
        facts, around = _launch(ready, _observing(arguments))
    write_record(ready._replace(evidence=(*ready.evidence, *around)), facts)
    if not arguments.quiet:
        _tell_refused(ready.judge(facts))
        _tell_share(around)
        _tell_instance(ready.plan, facts)
    return _status(facts, ready.workload.argv[0])


def _recorder(name: str | None, observe: str | None) -> Callable[[Ready, RunFacts], None]:
    """Return the writer of the sample, loaded before signals are exceptions.

    See ``assay.cli.process.termination``.
    """
    if not name:
        return lambda ready, facts: None
    from assay.cli.record_file import write_record
    from assay.cli.requests.observe import observed_of

    return partial(write_record, name, observed_of(observe))


class _Observing(NamedTuple):
    """Readings of a run.

    Attributes:
        varied: settings that are read back; those of the plan if absent.
        observe: observations; the usual ones if absent.
        briefly: nothing is recorded, so that only a refusal is of interest.
    """

    varied: tuple[str, ...] | None
    observe: tuple[Observation, ...] | None
    briefly: bool = False


def _observing(arguments: argparse.Namespace) -> _Observing:
    """Return the readings of a run: where nothing is recorded, those that show a refusal.

    Raises:
        InvalidInputError: an observation without a record to write it to.
    """
    if not arguments.record:
        if arguments.observe is not None:
            raise InvalidInputError(
                "--observe is of what --record writes.", "Add --record FILE, or leave it out."
            )
        return _Observing(() if arguments.quiet else None, (), briefly=True)
    from assay.cli.requests.observe import observed_of

    return _Observing(None, observed_of(arguments.observe))


def _ready(parsed: Parsed) -> AbstractContextManager[Ready]:
    if is_plain(parsed):
        return nullcontext(plain(parsed))
    from assay.cli.requests.configured import configured

    return configured(parsed)


def _launch(ready: Ready, observing: _Observing) -> tuple[RunFacts, tuple[Evidence, ...]]:
    """One launch with the descriptors of this process, and what others did to it meanwhile."""
    plan, workload, driver = ready.plan, ready.workload, ready.driver
    document = launcher_document(
        plan,
        workload,
        launch_of(plan),
        env=driver.env,
        parent_pid=os.getpid(),
        signals="leave",
        varied=observing.varied,
        observe=observing.observe,
        briefly=observing.briefly,
    )
    if workload.stdin is None and not plan.instances:
        del document["stdin"]  # inherited: the program is to behave as without assay
    document.pop("cwd", None)
    cached = _cached(ready)
    before, share = ready.look(), read_share(driver)
    with SignalRelay() as relay, driver.start(document) as running:
        relay.serve(running)
        try:
            facts = running.facts()
        except LauncherKilledError:
            demand_share(driver)  # with a share, what is in it ends
            raise
    changed = changed_since(before, ready.look())
    facts = msgspec.structs.replace(
        facts, cached_files=cached, system=before, system_changed=changed
    )
    return facts, (*drift_evidence(before, changed), *share_evidence(driver, share, facts))


def _cached(ready: Ready) -> CachedFiles | None:
    """What of the files of the launch is in the page cache, put as the plan asks for."""
    if not any(isinstance(action, PageCache) for action in ready.plan.actions):
        return None
    from assay.executors.page_cache import apply_cache_state

    workload = msgspec.structs.replace(ready.workload, cwd=None)
    return apply_cache_state(ready.plan, workload, ready.driver.env)


def _tell_refused(grants: Mapping[str, Grant]) -> None:
    """Name the settings that were not in force in the processes that did the work."""
    by_reason: dict[str, list[str]] = {}
    for name, grant in grants.items():
        if grant.grant is GrantStatus.REFUSED:
            setting = f"{name}={show_value(grant.value)}"
            by_reason.setdefault(grant.reason or "", []).append(setting)
    told = (
        f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} not in force"
        f"{f': {reason}' if reason else ''}"
        for reason, names in by_reason.items()
    )
    if by_reason:
        print(f"assay: {clean('; '.join(told))}.", file=sys.stderr)


def _tell_share(around: Sequence[Evidence]) -> None:
    """Where the share that was reserved did not hold, or was not enough."""
    for evidence in around:
        if evidence.kind == PARTITION_KIND:
            print(
                f"assay: the partition did not hold: {clean(evidence.note or '')}", file=sys.stderr
            )
        elif evidence.kind == SHARE_MEMORY_KIND:
            print(f"assay: {clean(evidence.note or '')}", file=sys.stderr)


def _tell_instance(plan: Plan, facts: RunFacts) -> None:
    """Which of several instances the status is of: they share one."""
    ended = facts.outcome in ("exited", "signaled")
    if facts.failed_instance is None or len(plan.instances) < 2 or not ended:
        return
    from assay.executors.sample import describe_exit

    number, _ = plan.instances[facts.failed_instance]
    how = describe_exit(facts.exit_status, facts.signal)
    others = sum(one.ended_with_others for one in facts.instances)
    more = f"; {show_count(others, 'other was', 'others were')} ended with it" if others else ""
    print(f"assay: instance {number}: {how}{more}.", file=sys.stderr)


def _status(facts: RunFacts, word: str) -> int:
    """The program's own end: its status, or its signal once more."""
    if facts.outcome == "exec_failed":
        missing = facts.errno == errno.ENOENT
        print(f"assay: {word!r} cannot be started: {facts.message}", file=sys.stderr)
        return NOT_FOUND if missing else NOT_EXECUTABLE
    if facts.outcome in ("bad_plan", "setup_failed"):
        raise NotPossibleError(
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
