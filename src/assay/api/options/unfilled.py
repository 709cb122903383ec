"""Placeholders of a command that have a value in some arms only."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import InvalidInputError
from assay.launch.command import placeholders_in
from assay.records import Arm, Workload

_PREFIX = "arg."


def demand_filled(arms: Sequence[Arm], workload: Workload) -> None:
    """Refuse an arm whose command would keep a placeholder that another arm replaces.

    Braces that no arm replaces are text of the program, as in ``find -exec`` or JSON.

    Args:
        arms: compared arms.
        workload: program, with the defaults of its placeholders.

    Raises:
        InvalidInputError: a placeholder has no value in an arm; the message names the first one.
    """
    used = placeholders_in(workload.argv) - workload.placeholders.keys()
    given = {
        name.removeprefix(_PREFIX)
        for arm in arms
        for name in arm.configuration
        if name.startswith(_PREFIX)
    }
    for name in sorted(used & given):
        for arm in arms:
            if _PREFIX + name not in arm.configuration:
                raise InvalidInputError(
                    f"{{{name}}} has no value in arm {arm.name}.",
                    f"Replace this arm by one with a value, for example --arm {_PREFIX}{name}="
                    "VALUE; two such arms are compared without default.",
                )
