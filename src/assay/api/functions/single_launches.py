"""Public functions for one launch under a configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from assay.api.functions.domains import Settings, setting_texts
from assay.api.functions.fields import (
    Command,
    Keywords,
    build_of,
    observations_of,
    reservation_of,
    words_of,
)
from assay.api.functions.keywords import RunKeywords
from assay.api.functions.known_keywords import demand_known
from assay.api.functions.public import with_keywords
from assay.api.functions.session import session
from assay.api.functions.study_names import study_id
from assay.api.launches.configured import configured, explained
from assay.api.launches.ready import Ready, launch, launch_of, plain
from assay.api.results.run_result import RunResult
from assay.errors import InvalidInputError, NotPossibleError
from assay.executors.sample import build_sample
from assay.executors.scratch import ScratchFolder
from assay.launch.document import launcher_document
from assay.launch.observations import active_observations
from assay.records import Evidence, RunFacts
from assay.requests.run import RunRequest
from assay.study.stop import CHECK_INTERVAL_S, StopSignal

if TYPE_CHECKING:
    from assay.api.context import Context
    from assay.launch.running import RunningLaunch


@with_keywords(RunKeywords)
def run(
    command: Command | None = None,
    settings: Settings | None = None,
    *,
    capture_output: bool = True,
    **options: Unpack[RunKeywords],
) -> RunResult:
    """Launch a command once under a configuration, and measure it.

    Args:
        command: words of the command (default: that of ``study``).
        settings: configuration, with values by name; overrides the recommendation of ``study``.
        capture_output: whether the result keeps the output; otherwise the program inherits the
            streams of this process.
        **options: see ``RunKeywords``.

    Returns:
        Measurements and output. A failure of the program raises no error: see ``RunResult.check``.

    Raises:
        AssayError: a value is invalid, a setting is refused, or the launch cannot be set up.

    Examples:
        >>> import assay
        >>> done = assay.run(["sh", "-c", "echo $A"], settings={"env.A": "hello"})
        >>> done.stdout.strip()
        'hello'
    """
    request = run_request(command, settings, options)
    with session(options) as context, ExitStack() as stack:
        ready = stack.enter_context(_ready(request, context))
        scratch = stack.enter_context(_scratch()) if capture_output else None
        facts, evidence = _launch(ready, request, scratch, context.stop)
        ready = ready._replace(evidence=(*ready.evidence, *evidence))
        return _result(ready, request, facts, scratch)


@with_keywords(RunKeywords)
def explain(
    command: Command | None = None,
    settings: Settings | None = None,
    **options: Unpack[RunKeywords],
) -> str:
    """Return the plan of a launch, and a shell script that does the same without assay.

    Args:
        command: words of the command (default: that of ``study``).
        settings: configuration, with values by name.
        **options: see ``RunKeywords``.

    Raises:
        AssayError: a value is invalid.

    Examples:
        >>> import assay
        >>> print(assay.explain(["./app"], settings={"env.A": 1}).splitlines()[0])
        #!/bin/sh
    """
    request = run_request(command, settings, options)
    with session(options) as context:
        return explained(request, context)


def run_request(command: Command | None, settings: Settings | None, given: Keywords) -> RunRequest:
    """Return the request of ``run``.

    Raises:
        InvalidInputError: a value is invalid, or command and study are missing.
    """
    demand_known(given, RunKeywords, "run")
    point, study = given.get("point"), given.get("study")
    if command is None and study is None:
        raise InvalidInputError("The command is missing.", "Give its words, or a study.")
    return RunRequest(
        argv=None if command is None else words_of(command),
        settings=setting_texts(settings),
        study=None if study is None else study_id(study),
        point=None if point is None else str(point),
        cell=given.get("cell"),
        unproven=bool(given.get("unproven")),
        outputs_may_differ=bool(given.get("outputs_may_differ")),
        build=build_of(given),
        reserve=reservation_of(given),
        observe=observations_of(given),
    )


def _ready(request: RunRequest, context: Context) -> AbstractContextManager[Ready]:
    return (
        nullcontext(plain(request, context)) if request.is_plain else configured(request, context)
    )


@contextmanager
def _scratch() -> Iterator[ScratchFolder]:
    folder = ScratchFolder()
    try:
        folder.renew()
        yield folder
    finally:
        folder.close()


class _Waiter:
    """Attendant that waits for the end of a launch, or for a request to stop.

    Args:
        stop: request of another thread to stop; ``None`` if no thread can make it.
    """

    def __init__(self, stop: StopSignal | None) -> None:
        self._stop = stop

    def serve(self, running: RunningLaunch) -> None:
        """See ``Attendant.serve``.

        Raises:
            StudyStopped: another thread has requested the stop.
        """
        while not running.finished(CHECK_INTERVAL_S):
            if self._stop is not None:
                self._stop.check()


def _launch(
    ready: Ready, request: RunRequest, scratch: ScratchFolder | None, stop: StopSignal | None
) -> tuple[RunFacts, tuple[Evidence, ...]]:
    document = launcher_document(
        ready.plan,
        ready.workload,
        launch_of(ready.plan),
        env=ready.driver.env,
        stdout=None if scratch is None else str(scratch.stdout),
        stderr=None if scratch is None else str(scratch.stderr),
        parent_pid=os.getpid(),
        observe=request.observe,
        process_group="own",
    )
    document.pop("cwd", None)
    return launch(ready, document, nullcontext(_Waiter(stop)))


def _result(
    ready: Ready, request: RunRequest, facts: RunFacts, scratch: ScratchFolder | None
) -> RunResult:
    if facts.outcome in ("bad_plan", "setup_failed", "exec_failed"):
        stage = f" ({facts.stage})" if facts.stage else ""
        raise NotPossibleError(
            f"{ready.workload.argv[0]} cannot be started{stage}: {facts.message}",
            "`assay doctor` shows what this host allows.",
        )
    planned = launch_of(ready.plan)
    observed = active_observations(
        planned, ready.workload, ready.plan.configuration, request.observe
    )
    sample = build_sample(
        planned,
        ready.workload,
        facts,
        (),
        ready.judge(facts),
        ready.evidence,
        observed=observed,
    )
    if scratch is None:
        return RunResult(sample)
    return RunResult(sample, _text(scratch.stdout), _text(scratch.stderr))


def _text(path: Path) -> str:
    """Return an output as text; empty if its file is missing."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
