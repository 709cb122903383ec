"""Control groups of this process, and their delegation to its user.

Interfaces: ``cgroups(7)``, ``Documentation/admin-guide/cgroup-v2.rst`` ("Delegation"): the groups
below a group are delegated to a user who may write to its directory, ``cgroup.procs`` and
``cgroup.subtree_control``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from assay.machine.cgroup import own_groups
from assay.machine.inventory.document import Control, Hierarchy
from assay.machine.root import Root


def read_control(root: Root, mode: str, writable: Mapping[str, bool]) -> Control:
    """Return all mounted hierarchies, v2 first.

    Args:
        root: root of the machine.
        mode: ``v2``, ``hybrid``, ``v1`` or ``none``.
        writable: for a recorded tree: directory of a group -> whether its user could write there.
    """
    found = []
    for group in own_groups(root):
        two = group.version == 2
        folder = group.folder
        offered = (root.read_text(f"{folder}/cgroup.controllers") or "").split()
        handed = (root.read_text(f"{folder}/cgroup.subtree_control") or "").split()
        found.append(
            Hierarchy(
                version=group.version,
                controllers=tuple(sorted(offered)) if two else group.controllers,
                group=group.name,
                delegated_controllers=tuple(sorted(handed)) if two else (),
                writable=_writable(root, folder, two) if root.live else writable.get(folder),
            )
        )
    return Control(mode=mode, hierarchies=tuple(found))


def writable_groups(root: Root) -> dict[str, bool]:
    """Return whether this user may create groups below each own group; on the running host."""
    return {
        group.folder: _writable(root, group.folder, group.version == 2)
        for group in own_groups(root)
    }


def _writable(root: Root, folder: str, two: bool) -> bool:
    files = ("", "/cgroup.procs", *(("/cgroup.subtree_control",) if two else ()))
    places = [root.on_host(f"{folder}{name}") for name in files]
    return all(place is not None and os.access(place, os.W_OK) for place in places)
