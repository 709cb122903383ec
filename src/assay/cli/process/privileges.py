"""Separation of privileges under sudo.

Before a verb runs, assay starts a helper that remains root. Then this process becomes the user who
called sudo, and who owns the workload, the store and all files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

from assay.errors import NotPossibleError
from assay.launch.driver import find_launcher
from assay.root_helper.caller import drop_rights, sudo_caller
from assay.root_helper.helper import RootHelper
from assay.root_helper.installation import first_exposed_path, first_unreadable_path
from assay.untrusted import clean

ACTIONS_AS_ROOT = ("check", "snapshot", "noise")
"""Actions of ``assay machine`` that read files of root and start no program of the user."""
VERBS_AS_ROOT = ("partition",)
"""Verbs that consist of privileged steps only."""
_RUNTIME = "XDG_RUNTIME_DIR"


def separate_privileges(
    verb: str, action: str, env: MutableMapping[str, str], *, quiet: bool
) -> RootHelper | None:
    """Become the caller of sudo, and return a helper that remains root.

    Args:
        verb: verb of the command line.
        action: its action; empty if it has none.
        env: environment of this process; receives the variables of the caller.
        quiet: print no warnings.

    Returns:
        ``None`` if root itself called, if the verb runs as root, or without a launcher.

    Raises:
        NotPossibleError: the process cannot become the caller, or the caller cannot read assay.
    """
    caller = sudo_caller(env)
    if caller is None:
        return None
    launcher: Path | None
    try:
        launcher = find_launcher(env)
    except NotPossibleError:
        launcher = None  # the verb reports it, if it needs one
    if launcher is not None and not quiet:
        place = first_exposed_path(launcher, caller)
        if place is not None:
            print(f"assay: {clean(unprotected(place))}", file=sys.stderr)
    if verb in VERBS_AS_ROOT or (verb == "machine" and action in ACTIONS_AS_ROOT):
        return None
    helper = None if launcher is None else RootHelper(launcher, caller)
    drop_rights(caller)
    if (place := first_unreadable_path()) is not None:
        raise NotPossibleError(
            f"{caller.name} called sudo, and may not read {place}, where assay is installed.",
            "Install assay where users can read it, or add --as-root: then the program runs as "
            "root, and root owns all files.",
        )
    env.update(caller.variables)
    runtime = Path(f"/run/user/{caller.uid}")
    if runtime.is_dir():
        env[_RUNTIME] = os.fspath(runtime)
    else:
        env.pop(_RUNTIME, None)
    return helper


def unprotected(place: Path) -> str:
    """Return the warning about an installation that users other than root can write."""
    return (
        f"users other than root can write {place}, which root loads: they can change the "
        "privileged steps of assay."
    )
