"""Control: the control groups of this process, and what is handed to its user.

Interfaces: ``cgroups(7)``, ``Documentation/admin-guide/cgroup-v2.rst`` ("Delegation"): a user owns
what is below a group when the folder itself, ``cgroup.procs`` and ``cgroup.subtree_control`` are
the user's to write.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from assay.machine.cgroup import own_groups
from assay.machine.inventory.document import Control, Hierarchy
from assay.machine.root import Root


def read_control(root: Root, mode: str, writable: Mapping[str, bool]) -> Control:
    """Every hierarchy that is mounted, v2 first.

    Args:
        root: where they are read.
        mode: ``v2``, ``hybrid``, ``v1`` or ``none``.
        writable: for a recorded tree: folder of a group -> whether its user could write there.
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
                handed_down=tuple(sorted(handed)) if two else (),
                writable=_writable(root, folder, two) if root.live else writable.get(folder),
            )
        )
    return Control(mode=mode, hierarchies=tuple(found))


def writable_groups(root: Root) -> dict[str, bool]:
    """Folder of each own group -> whether this user may make groups in it; of the running host."""
    return {
        group.folder: _writable(root, group.folder, group.version == 2)
        for group in own_groups(root)
    }


def _writable(root: Root, folder: str, two: bool) -> bool:
    files = ("", "/cgroup.procs", *(("/cgroup.subtree_control",) if two else ()))
    places = [root.on_host(f"{folder}{name}") for name in files]
    return all(place is not None and os.access(place, os.W_OK) for place in places)
