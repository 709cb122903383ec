"""Surroundings: what a launch inherits from the shell that assay was started in.

Variables, niceness and scheduling class belong to *the default*: a study that is resumed under
others would pool what cannot be pooled.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

OF_A_SESSION = frozenset(
    {
        *("_", "SHLVL", "PWD", "OLDPWD", "TERM", "COLORTERM", "COLUMNS", "LINES", "WINDOWID"),
        *("DISPLAY", "WAYLAND_DISPLAY", "TMUX", "TMUX_PANE", "STY", "LS_COLORS", "PS1", "PS2"),
        *("TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "INVOCATION_ID"),
        *("JOURNAL_STREAM", "MAIL", "PROMPT_COMMAND", "SUDO_COMMAND", "NO_COLOR"),
    }
)
"""Variables that differ between two shells of one user without meaning anything to a program."""
OF_A_SESSION_PREFIXES = ("SSH_", "XDG_SESSION_", "DBUS_", "GPG_", "VTE_", "KONSOLE_", "ASSAY_")

DIGITS = 4
"""Hexadecimal digits of a variable's digest. A change goes unseen once in 65,536; a secret in a
variable is not given away by sixteen bits."""

POLICIES = {os.SCHED_OTHER: "other", os.SCHED_BATCH: "batch", os.SCHED_IDLE: "idle"}


def surroundings(env: Mapping[str, str]) -> dict[str, str]:
    """What launches inherit: a digest of each variable, niceness, scheduling class.

    Args:
        env: that launches start from.
    """
    policy = os.sched_getscheduler(0)
    return {
        **{f"variable {name}": _digest(value) for name, value in env.items() if _counts(name)},
        "niceness": str(os.getpriority(os.PRIO_PROCESS, 0)),
        "scheduling class": POLICIES.get(policy, str(policy)),
    }


def _counts(name: str) -> bool:
    return name not in OF_A_SESSION and not name.startswith(OF_A_SESSION_PREFIXES)


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode(errors="surrogateescape")).hexdigest()[:DIGITS]
