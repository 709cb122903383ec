"""Caller: the user who called sudo."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import NotPossibleError


@dataclass(frozen=True)
class Caller:
    """User other than root.

    Attributes:
        uid, gid: user id and group id.
        groups: ids of all groups of the user.
        name: name in the user database; the number without an entry.
        home: home folder.
    """

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str
    home: str

    @property
    def numbers(self) -> str:
        """Ids in the format of assay-exec: ``UID:GID:GROUP,GROUP``."""
        return f"{self.uid}:{self.gid}:{','.join(map(str, self.groups))}"

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that identify the user."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}


def sudo_caller(env: Mapping[str, str]) -> Caller | None:
    """Return the user who called sudo; ``None`` without sudo, or for root."""
    uid, gid = _number(env.get("SUDO_UID")), _number(env.get("SUDO_GID"))
    if not uid or gid is None:
        return None
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Caller(uid, gid, (gid,), str(uid), env.get("SUDO_HOME") or "/")
    groups = tuple(sorted(os.getgrouplist(entry.pw_name, gid)))
    home = env.get("SUDO_HOME") or entry.pw_dir
    return Caller(uid, gid, groups, entry.pw_name, home)


def drop_rights(caller: Caller) -> None:
    """Give up all root rights permanently.

    Afterwards other processes of this user can neither trace this process nor open its descriptors:
    the kernel prevents that for a process that has changed its user, unless ``fs.suid_dumpable`` is
    1 (``proc(5)``, ``PR_SET_DUMPABLE``).

    Raises:
        NotPossibleError: the kernel refuses; then the process must not continue.
    """
    try:
        os.setgroups(caller.groups)
        os.setresgid(caller.gid, caller.gid, caller.gid)
        os.setresuid(caller.uid, caller.uid, caller.uid)
        done = not _has_rights()
    except OSError:
        done = False
    if not done:
        raise NotPossibleError(
            f"Assay cannot become {caller.name}, who called sudo.",
            "With --as-root all processes run as root, the program included.",
        )


def _has_rights() -> bool:
    """Return whether any capability remains (``capabilities(7)``)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    sets = [line.split()[1] for line in lines if line.startswith(("CapPrm", "CapEff", "CapInh"))]
    return os.getresuid().count(0) > 0 or any(int(found, 16) for found in sets)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None
