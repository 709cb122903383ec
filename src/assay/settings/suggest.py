"""What to try when no setting is named, and why; and why not the others."""

from __future__ import annotations

from assay.machine.document import Machine, Program
from assay.records import Parameter, Space
from assay.records.codec import Record
from assay.settings.base import Suggestion
from assay.settings.registry import Registry


class Suggested(Record, frozen=True, kw_only=True):
    """A space, each parameter with its reason; ``left_out`` has the reason for every other."""

    space: Space
    left_out: dict[str, str]


def suggest(registry: Registry, program: Program, machine: Machine) -> Suggested:
    """The settings that can matter for this program on this machine."""
    parameters: list[Parameter] = []
    left_out: dict[str, str] = {}
    for setting in registry:
        answer = setting.matters(program, machine)
        if isinstance(answer, Suggestion):
            parameters.append(
                Parameter(
                    name=setting.name,
                    domain=answer.domain,
                    default=setting.default(machine),
                    reason=answer.reason,
                )
            )
        else:
            left_out[setting.name] = answer
    return Suggested(space=Space(parameters=tuple(parameters)), left_out=left_out)
