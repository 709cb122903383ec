"""``assay run``: one launch under a configuration, transparent to its caller."""

from __future__ import annotations

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

from assay.api.context import Context
from assay.api.launches.ready import Ready, launch, launch_of, plain
from assay.api.observer import Observer
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.run import run_request
from assay.cli.parsing.parser import Parsed
from assay.cli.process.signal_relay import SignalRelay
from assay.cli.startup import context_with
from assay.errors import NotPossibleError
from assay.launch.document import launcher_document
from assay.partition.names import PARTITION_KIND, SHARE_MEMORY_KIND
from assay.records import Evidence, Grant, GrantStatus, Observation, Plan, RunFacts
from assay.records.configuration import show_value
from assay.requests.run import RunRequest
from assay.units import show_count
from assay.untrusted import clean

NOT_FOUND, NOT_EXECUTABLE = 127, 126
KEPT_CONTROLS = "\n"
"""Control characters that remain in a message."""


def run(parsed: Parsed) -> int:
    """Run the verb; return the exit status of the program."""
    return run_command(run_request(parsed), common_options(parsed))


def run_command(request: RunRequest, options: CommonOptions) -> int:
    """Launch the command of a request; return its exit status."""
    if request.explain:
        from assay.api.launches.configured import explained

        print(explained(request, context_with(options, _RunObserver(options))), end="")
        return 0
    write_record = _recorder(request)
    context = context_with(options, _RunObserver(options))
    with _ready(request, context) as ready:
        facts, evidence = _launch(ready, _reading_options(request, quiet=options.quiet))
    write_record(ready._replace(evidence=(*ready.evidence, *evidence)), facts)
    if not options.quiet:
        _report_refused(ready.judge(facts))
        _report_share(evidence)
        _report_instance(ready.plan, facts)
    return _status(facts, ready.workload.argv[0])


class _RunObserver(Observer):
    """Observer of a run: the program owns the output, so little is printed.

    Args:
        options: options of the verb.
    """

    def __init__(self, options: CommonOptions) -> None:
        self._verbose = options.verbose

    def noted(self, text: str) -> None:
        """See ``Observer.noted``."""
        print(f"assay: {clean(text, KEPT_CONTROLS)}", file=sys.stderr, flush=True)

    def share_reserved(self, share: str) -> None:
        """See ``Observer.share_reserved``."""
        if self._verbose:
            self.noted(f"reserved of {share}")


def _recorder(request: RunRequest) -> Callable[[Ready, RunFacts], None]:
    """Return the writer of the sample, loaded before signals are exceptions.

    See ``assay.cli.process.termination``.
    """
    if request.record is None:
        return lambda ready, facts: None
    from assay.cli.record_file import write_record

    return partial(write_record, request.record, request.observe)


class _ReadingOptions(NamedTuple):
    """Choice of the readings of a run.

    Attributes:
        varied: settings that are read back; those of the plan if absent.
        observe: observations; the usual ones if absent.
        briefly: nothing is recorded, so that only a refusal is of interest.
    """

    varied: tuple[str, ...] | None
    observe: tuple[Observation, ...] | None
    briefly: bool = False


def _reading_options(request: RunRequest, *, quiet: bool) -> _ReadingOptions:
    """Return the readings of a run: without a record, those that show a refusal."""
    if request.record is None:
        return _ReadingOptions(() if quiet else None, (), briefly=True)
    return _ReadingOptions(None, request.observe)


def _ready(request: RunRequest, context: Context) -> AbstractContextManager[Ready]:
    if request.is_plain:
        return nullcontext(plain(request, context))
    from assay.api.launches.configured import configured

    return configured(request, context)


def _launch(ready: Ready, options: _ReadingOptions) -> tuple[RunFacts, tuple[Evidence, ...]]:
    """Launch with the descriptors of this process; return facts and evidence of disturbances."""
    plan, workload, driver = ready.plan, ready.workload, ready.driver
    document = launcher_document(
        plan,
        workload,
        launch_of(plan),
        env=driver.env,
        parent_pid=os.getpid(),
        signals="leave",
        varied=options.varied,
        observe=options.observe,
        briefly=options.briefly,
    )
    if workload.stdin is None and not plan.instances:
        del document["stdin"]  # inherited, as without assay
    document.pop("cwd", None)
    return launch(ready, document, SignalRelay())


def _report_refused(grants: Mapping[str, Grant]) -> None:
    """Report the settings that were not in force in the processes that did the work."""
    by_reason: dict[str, list[str]] = {}
    for name, grant in grants.items():
        if grant.status is GrantStatus.REFUSED:
            setting = f"{name}={show_value(grant.value)}"
            by_reason.setdefault(grant.reason or "", []).append(setting)
    sentences = (
        f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} not in force"
        f"{f': {reason}' if reason else ''}"
        for reason, names in by_reason.items()
    )
    if by_reason:
        print(f"assay: {clean('; '.join(sentences))}.", file=sys.stderr)


def _report_share(evidence: Sequence[Evidence]) -> None:
    """Report violations of the reserved share, and a lack of memory in it."""
    for one in evidence:
        if one.kind == PARTITION_KIND:
            print(
                f"assay: the partition was not in force: {clean(one.note or '')}", file=sys.stderr
            )
        elif one.kind == SHARE_MEMORY_KIND:
            print(f"assay: {clean(one.note or '')}", file=sys.stderr)


def _report_instance(plan: Plan, facts: RunFacts) -> None:
    """Report the instance that the exit status belongs to, if there are several."""
    ended = facts.outcome in ("exited", "signaled")
    if facts.first_failed_instance is None or len(plan.instances) < 2 or not ended:
        return
    from assay.executors.outcome import describe_exit

    number, _ = plan.instances[facts.first_failed_instance]
    how = describe_exit(facts.exit_status, facts.signal)
    others = sum(one.killed_after_failure for one in facts.instances)
    more = f"; {show_count(others, 'other was', 'others were')} ended with it" if others else ""
    print(f"assay: instance {number}: {how}{more}.", file=sys.stderr)


def _status(facts: RunFacts, word: str) -> int:
    """Return the exit status of the program; end by its signal if it ended by one."""
    if facts.outcome == "exec_failed":
        missing = facts.errno == errno.ENOENT
        print(f"assay: {word!r} cannot be started: {facts.message}", file=sys.stderr)
        return NOT_FOUND if missing else NOT_EXECUTABLE
    if facts.outcome in ("bad_plan", "setup_failed"):
        raise NotPossibleError(
            f"The launcher could not set up the launch ({facts.stage}): {facts.message}",
            "`assay doctor` shows what this host allows.",
        )
    number = facts.signal or (signal.SIGINT if facts.outcome == "interrupted" else None)
    if number:
        _end_by(number)
    return facts.exit_status or 0


def _end_by(number: int) -> None:
    """End this process by a signal, without a core file of its own."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError):  # SIGKILL has no handler
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    os.kill(os.getpid(), number)
