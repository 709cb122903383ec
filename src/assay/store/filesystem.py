"""Whether a file system can hold the store: not across a network."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import msgspec

from assay.errors import NotPossibleError

_NETWORK = frozenset(
    {
        "9p",
        "acfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "panfs",
        "prl_fs",
        "pvfs2",
        "smb3",
        "smbfs",
        "vboxsf",
        "wekafs",
    }
)
_NETWORK_FUSE = frozenset(
    {
        "afp",
        "beegfs",
        "ceph",
        "ceph-fuse",
        "curlftpfs",
        "davfs",
        "davfs2",
        "gcsfuse",
        "glusterfs",
        "goofys",
        "grpcfuse",
        "juicefs",
        "juicefs:juicefs",
        "mfs",
        "moosefs",
        "rclone",
        "s3fs",
        "seaweedfs",
        "smbnetfs",
        "sshfs",
    }
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    """One mounted file system: where, of which type, from what."""

    point: PurePosixPath
    kind: str
    source: str

    @property
    def network(self) -> bool:
        """Whether other hosts can change it, so that neither locks nor shared memory hold."""
        kind = self.kind.lower()
        family, _, server = kind.partition(".")
        return kind in _NETWORK or (family in ("fuse", "fuseblk") and server in _NETWORK_FUSE)


def mount_of(path: Path, mountinfo: str) -> Mount | None:
    """The mount that an absolute, resolved path lies on.

    Args:
        path: need not exist.
        mountinfo: text of ``/proc/self/mountinfo`` (proc_pid_mountinfo(5)).
    """
    best: Mount | None = None
    for mount in filter(None, map(_parse, mountinfo.splitlines())):
        # Of two mounts on one point the later one covers the earlier.
        deeper = best is None or len(mount.point.parts) >= len(best.point.parts)
        if deeper and path.is_relative_to(mount.point):
            best = mount
    return best


def refuse_network(path: Path, mountinfo: str) -> None:
    """Do nothing for a path on a local file system.

    SQLite in WAL mode shares memory between processes and trusts the locks of the file system;
    neither holds across a network (https://www.sqlite.org/wal.html, "WAL does not work over a
    network filesystem").

    Raises:
        NotPossibleError: the path lies on a network file system.
    """
    mount = mount_of(path, mountinfo)
    if mount is not None and mount.network:
        raise NotPossibleError(
            f"The store {path} would lie on a network file system "
            f"({mount.kind} at {mount.point}), where a database is not safe.",
            "Name a file on a local disk with --db PATH, or set ASSAY_DB.",
        )


def _parse(line: str) -> Mount | None:
    before, separator, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ")
    if not separator or len(fields) < 5 or len(tail) < 2:
        return None
    point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4])
    return Mount(PurePosixPath(point), tail[0], tail[1])
