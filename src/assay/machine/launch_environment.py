"""Environment that a launch inherits from the shell of assay.

Variables, niceness and scheduling class belong to *the default*: a study that is resumed with other
values would pool different conditions.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

from assay.machine.session_variables import is_session_variable

VARIABLE_PREFIX = "variable "
"""Prefix of readings of variables."""

DIGITS = 4
"""Hexadecimal digits of a variable's digest. A change is missed once in 65,536 cases; sixteen bits
do not reveal a secret in a variable.
"""

POLICIES = {os.SCHED_OTHER: "other", os.SCHED_BATCH: "batch", os.SCHED_IDLE: "idle"}


def read_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of launches: a digest of each variable, niceness, scheduling class.

    Args:
        env: environment of the launches.
    """
    policy = os.sched_getscheduler(0)
    return {
        **{f"{VARIABLE_PREFIX}{name}": _digest(value) for name, value in env.items()},
        "niceness": str(os.getpriority(os.PRIO_PROCESS, 0)),
        "scheduling class": POLICIES.get(policy, str(policy)),
    }


def is_compared(reading: str) -> bool:
    """Return whether launches with another value of a reading cannot be pooled.

    Variables of a session do not count: see :mod:`assay.machine.session_variables`.
    """
    return not (
        reading.startswith(VARIABLE_PREFIX)
        and is_session_variable(reading.removeprefix(VARIABLE_PREFIX))
    )


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode(errors="surrogateescape")).hexdigest()[:DIGITS]
