"""Trial: one configuration in a guest, from its text to its grants, as in a study on the host."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.records import Configuration, Grant, Launch, Plan, RunFacts, Stage, Workload, decode
from assay.records.configuration import Value
from assay.settings.registry import builtin, judge_all

from .alive import Alive

_ENV = {"PATH": "/bin"}
_LAUNCH = """\
printf %s {document} > /tmp/plan.json
assay-exec --plan /tmp/plan.json --record /tmp/record.json 2> /tmp/complaint
cat /tmp/record.json || cat /tmp/complaint
rm -f /tmp/record.json"""


def launch(guest: Alive, document: Mapping[str, Any]) -> bytes:
    """Return the record of a launch, or the message of the launcher if it is missing."""
    text = shlex.quote(msgspec.json.encode(document).decode())
    return guest.output(_LAUNCH.format(document=text)).encode()


@dataclass(frozen=True)
class Trial:
    """Result of one launch.

    Attributes:
        plan: plan of the configuration on the guest.
        facts: facts that the launcher reported.
        grants: grant of each setting, judged by the facts.
        stdout: output of the program.
    """

    plan: Plan
    facts: RunFacts
    grants: Mapping[str, Grant]
    stdout: str


def plan_on(machine: Machine, values: Mapping[str, Value]) -> Plan:
    """Resolve a configuration on a guest."""
    return plan(Configuration(values), machine, builtin())


def attempt(
    guest: Alive, machine: Machine, values: Mapping[str, Value], argv: Sequence[str]
) -> Trial:
    """Launch a program of the guest with a configuration."""
    planned = plan_on(machine, values)
    document = launcher_document(
        planned,
        Workload(argv=tuple(argv)),
        Launch(
            configuration=planned.configuration,
            arm="guest",
            stage=Stage.SEARCH,
            block=0,
            position=0,
        ),
        env=_ENV,
        stdout="/tmp/stdout",
        stderr="/tmp/stderr",
    )
    facts = decode(launch(guest, document), RunFacts)
    grants = judge_all(planned.configuration, builtin(), planned, facts)
    return Trial(planned, facts, grants, guest.output("cat /tmp/stdout /tmp/stderr"))
