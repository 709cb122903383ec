"""File system check: the store must be on a local file system."""

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
    """Mounted file system: mount point, type and source."""

    point: PurePosixPath
    kind: str
    source: str

    @property
    def network(self) -> bool:
        """Return whether other hosts can access it: locks and shared memory are unreliable."""
        kind = self.kind.lower()
        family, _, server = kind.partition(".")
        return kind in _NETWORK or (family in ("fuse", "fuseblk") and server in _NETWORK_FUSE)


def mount_of(path: Path, mountinfo: str) -> Mount | None:
    """Return the mount of an absolute, resolved path.

    Args:
        path: path that need not exist.
        mountinfo: text of ``/proc/self/mountinfo`` (proc_pid_mountinfo(5)).
    """
    best: Mount | None = None
    for mount in filter(None, map(_parse, mountinfo.splitlines())):
        # A later mount on the same point covers the earlier one.
        deeper = best is None or len(mount.point.parts) >= len(best.point.parts)
        if deeper and path.is_relative_to(mount.point):
            best = mount
    return best


def refuse_network(path: Path, mountinfo: str) -> None:
    """Raise an error if a path is on a network file system.

    SQLite in WAL mode shares memory between processes and relies on file locks. Both fail across a
    network (https://www.sqlite.org/wal.html, "WAL does not work over a network filesystem").

    Raises:
        NotPossibleError: the path is on a network file system.
    """
    mount = mount_of(path, mountinfo)
    if mount is not None and mount.network:
        raise NotPossibleError(
            f"The store {path} is on a network file system ({mount.kind} at {mount.point}), "
            "where SQLite databases get corrupted.",
            "Specify a file on a local disk with --db PATH or ASSAY_DB.",
        )


def _parse(line: str) -> Mount | None:
    before, separator, after = line.partition(" - ")
    fields, tail = before.split(" "), after.split(" ")
    if not separator or len(fields) < 5 or len(tail) < 2:
        return None
    point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4])
    return Mount(PurePosixPath(point), tail[0], tail[1])
