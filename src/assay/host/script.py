"""System actions as lines of a POSIX shell script, with a trap that restores the old values."""

from __future__ import annotations

import shlex
import struct

from assay.host.actions import demand_allowed
from assay.machine.tunables import IRQS, find_tunable
from assay.records import HoldFd, Plan, Swap, WriteFile

RESTORE_FUNCTION = "restore_settings"
"""Name of the shell function that restores old values and returns the script's status."""
_CHOSEN = r"sed 's/.*\[\(.*\)\].*/\1/'"


def system_lines(plan: Plan) -> list[str]:
    """Return lines that apply system actions, and a trap that restores the old values.

    Raises:
        NotPossibleError: an action is not allowed.
    """
    if not plan.system:
        return []
    for action in plan.system:
        demand_allowed(action)
    paths = _paths(plan)
    reads = [f"old_{n}=$({_reader(path)} {shlex.quote(path)})" for n, path in enumerate(paths)]
    backs = [_back(n, path) for n, path in reversed(list(enumerate(paths)))]
    swaps = [a for a in plan.system if isinstance(a, Swap)]
    backs += [f"  swapon {shlex.quote(action.path)} || true" for action in swaps if not action.on]
    writes = [line for action in plan.system for line in _do(action)]
    return [
        "# System settings: requires root; restored at the end, except after SIGKILL.",
        *reads,
        f"{RESTORE_FUNCTION}() {{",
        "  status=$?",
        # Twice: one file may block or change another one.
        *(backs if len(paths) < 2 else [*backs, *backs]),
        "  return $status",
        "}",
        f"trap {RESTORE_FUNCTION} EXIT",
        "trap 'exit 130' INT",
        "trap 'exit 143' HUP TERM",
        *writes,
    ]


def _paths(plan: Plan) -> list[str]:
    """Return all files that may change, in writing order."""
    files = [action for action in plan.system if isinstance(action, WriteFile)]
    return list(dict.fromkeys(path for a in files for path in (*a.resets, a.path)))


def _reader(path: str) -> str:
    tunable = find_tunable(path)
    return _CHOSEN if tunable is not None and tunable.form == "choice" else "cat"


def _back(number: int, path: str) -> str:
    quoted = shlex.quote(path)
    old = f'"$old_{number}"'
    return (
        f'  [ "$({_reader(path)} {quoted})" = {old} ] || '
        f"printf '%s\\n' {old} 2> /dev/null > {quoted} || true"
    )


def _do(action: WriteFile | HoldFd | Swap) -> list[str]:
    path = shlex.quote(action.path)
    match action:
        case WriteFile(value=value) if action.path.startswith(f"{IRQS}/"):
            # Interrupts that a driver manages cannot be moved.
            return [f"printf '%s\\n' {shlex.quote(value)} 2> /dev/null > {path} || true"]
        case WriteFile(value=value):
            return [f"printf '%s\\n' {shlex.quote(value)} > {path}"]
        case HoldFd(value=value):
            octets = "".join(f"\\{byte:03o}" for byte in struct.pack("=i", value))
            return [f"exec 9<> {path}", f"printf '{octets}' >&9"]
        case Swap(on=on):
            return [f"{'swapon' if on else 'swapoff'} {path}"]
