"""Ready: what ``assay run`` launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from assay.cli.parsing.parser import Parsed
from assay.cli.requests.command_words import command_of
from assay.cli.startup import local_driver, start_up
from assay.launch.driver import Driver
from assay.records import DEFAULT, Evidence, Grant, Launch, Plan, RunFacts, Stage, Workload


def _no_grants(facts: RunFacts) -> dict[str, Grant]:
    return {}


class Ready(NamedTuple):
    """What is launched, with all that has to hold for it.

    Attributes:
        driver: starts it.
        plan: its actions.
        workload: its command; with the folder of a build in its placeholders.
        evidence: what was built for it.
        look: what the files hold now that the plan's system settings write, and that show how the
            machine was booted, by path.
        judge: a grant for each setting of its configuration.
    """

    driver: Driver
    plan: Plan
    workload: Workload
    evidence: tuple[Evidence, ...] = ()
    look: Callable[[], dict[str, str]] = dict
    judge: Callable[[RunFacts], dict[str, Grant]] = _no_grants


def is_plain(parsed: Parsed) -> bool:
    """Whether a command is run as it is: no setting, no study, no build, no share of a partition.

    Nothing of this host, of settings or of the program has to be known then.
    """
    words = parsed.arguments
    named = (words.assignments, words.study, words.build, words.build_input, words.build_timeout)
    return not any(named) and words.reserve is None and words.partition is None


def plain(parsed: Parsed) -> Ready:
    """The command as it is.

    Raises:
        InvalidInputError: there is none.
        NotPossibleError: there is no launcher, or the undo journal cannot be had.
    """
    workload = Workload(argv=command_of(parsed.command, separated=parsed.separated, shell=False))
    helper = parsed.arguments.helper
    start_up((RunFacts,), helper=helper)
    return Ready(local_driver(helper), Plan(configuration=DEFAULT), workload)


def launch_of(plan: Plan) -> Launch:
    """The one launch of a run."""
    return Launch(
        configuration=plan.configuration,
        arm=str(plan.configuration),
        stage=Stage.CONFIRM,
        block=0,
        position=0,
    )
