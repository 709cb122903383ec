"""Separation: an assay that was started by sudo gives up the rights of root.

Before a verb runs: a helper that stays root is started, then this process becomes the user who
called sudo, whose the workload, the store and all files are.
"""

from __future__ import annotations

import argparse
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
"""Of ``assay machine``: they look at what only root may see, and start no program of the user's."""
VERBS_AS_ROOT = ("partition",)
"""Verbs that do nothing but what needs root."""
_RUNTIME = "XDG_RUNTIME_DIR"


def separate_privileges(
    arguments: argparse.Namespace, env: MutableMapping[str, str]
) -> RootHelper | None:
    """Become the caller of sudo, with a helper that is root.

    Args:
        arguments: of the command line.
        env: of this process; tells afterwards whose it is.

    Returns:
        ``None`` where nobody but root called, where the verb is root's own, or without a launcher.

    Raises:
        NotPossibleError: the rights cannot be given up, or without them assay cannot be loaded.
    """
    caller = sudo_caller(env)
    if caller is None:
        return None
    launcher: Path | None
    try:
        launcher = find_launcher(env)
    except NotPossibleError:
        launcher = None  # said by the verb, if it needs one
    if launcher is not None and not arguments.quiet:
        place = first_exposed_path(launcher, caller)
        if place is not None:
            print(f"assay: {clean(unprotected(place))}", file=sys.stderr)
    if arguments.verb in VERBS_AS_ROOT or _looks_only(arguments):
        return None
    helper = None if launcher is None else RootHelper(launcher, caller)
    drop_rights(caller)
    if (place := first_unreadable_path()) is not None:
        raise NotPossibleError(
            f"{caller.name}, who called sudo, may not read {place}, where assay is installed.",
            "Install it where users can read it; with --as-root all is root's, the program too.",
        )
    env.update(caller.variables)
    runtime = Path(f"/run/user/{caller.uid}")
    if runtime.is_dir():
        env[_RUNTIME] = os.fspath(runtime)
    else:
        env.pop(_RUNTIME, None)
    return helper


def unprotected(place: Path) -> str:
    """What is said of an installation that others than root can write."""
    return (
        f"others than root can write {place}, which root loads: what assay does as root is not "
        "protected from them here."
    )


def _looks_only(arguments: argparse.Namespace) -> bool:
    return arguments.verb == "machine" and arguments.action in ACTIONS_AS_ROOT
