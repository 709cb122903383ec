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
    """A user other than root.

    Attributes:
        uid, gid: its numbers.
        groups: all that it is a member of.
        name: as the user database has it; the number where it has none.
        home: its folder.
    """

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str
    home: str

    @property
    def numbers(self) -> str:
        """As assay-exec takes it: ``UID:GID:GROUP,GROUP``."""
        return f"{self.uid}:{self.gid}:{','.join(map(str, self.groups))}"

    @property
    def variables(self) -> dict[str, str]:
        """What tells programs whose they are."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name}


def sudo_caller(env: Mapping[str, str]) -> Caller | None:
    """Who called sudo, as its variables say; ``None`` where nobody did, or root."""
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
    """Give up all rights of root, for good.

    From here on other processes of this user can neither trace this one nor open what it has open:
    the kernel sees to it where a process changes its user, as long as ``fs.suid_dumpable`` is not
    1 (``proc(5)``, ``PR_SET_DUMPABLE``).

    Raises:
        NotPossibleError: the kernel does not let us; nothing must be done then.
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
            "With --as-root all is root's, the program too.",
        )


def _has_rights() -> bool:
    """Whether any capability is left (``capabilities(7)``)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    sets = [line.split()[1] for line in lines if line.startswith(("CapPrm", "CapEff", "CapInh"))]
    return os.getresuid().count(0) > 0 or any(int(found, 16) for found in sets)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None
