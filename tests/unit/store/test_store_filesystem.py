from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import NotPossibleError
from assay.store import open_store
from assay.store.filesystem import mount_of

MOUNTINFO = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
61 27 0:52 / /home rw,relatime shared:30 - autofs systemd-1 rw,fd=61,pgrp=1
62 61 0:53 / /home/ada rw,relatime shared:31 - nfs4 files:/export/ada rw,vers=4.2,hard
63 62 0:54 / /home/ada/local\\040disk rw,relatime - xfs /dev/nvme0n1p1 rw
64 27 0:55 / /share rw,relatime - cifs //files/share rw,vers=3.1.1
65 27 0:56 / /mnt/box rw,nosuid - fuse.sshfs box:/ rw,user_id=0
66 27 0:57 / /mnt/disk rw,nosuid - fuseblk.ntfs-3g /dev/sdb1 rw,user_id=0
67 27 0:58 / /scratch rw,relatime - lustre 10.0.0.1@tcp:/scratch rw
68 27 0:59 / /over rw,relatime - nfs files:/over rw
69 68 0:60 / /over rw,relatime - tmpfs tmpfs rw
70 27 0:61 / /guest rw,relatime - 9p guest rw,trans=virtio
a line that means nothing
"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/var/lib/assay.db", "ext4", False),
        ("/home/ada/.local/state/assay/assay.db", "nfs4", True),
        ("/home/ada/local disk/assay.db", "xfs", False),
        ("/home/adam/assay.db", "autofs", False),
        ("/share/assay.db", "cifs", True),
        ("/mnt/box/assay.db", "fuse.sshfs", True),
        ("/mnt/disk/assay.db", "fuseblk.ntfs-3g", False),
        ("/scratch/assay.db", "lustre", True),
        ("/over/assay.db", "tmpfs", False),
        ("/guest/assay.db", "9p", True),
    ],
)
def test_mount_of_path_is_deepest_and_last(path: str, kind: str, network: bool) -> None:
    mount = mount_of(Path(path), MOUNTINFO)
    assert mount is not None
    assert (mount.kind, mount.network) == (kind, network)


def test_mount_is_unknown_without_mount_table() -> None:
    assert mount_of(Path("/a.db"), "") is None


def test_store_on_network_file_system_is_rejected_before_files_are_created(
    tmp_path: Path,
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTINFO + f"80 27 0:70 / {tmp_path.resolve()} rw - nfs4 files:/t rw\n")
    with pytest.raises(NotPossibleError, match="network file system") as caught:
        open_store(tmp_path / "assay.db", mountinfo=table)
    assert "nfs4" in str(caught.value)
    assert "ASSAY_DB" in str(caught.value)
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with pytest.raises(NotPossibleError, match="network file system"):
        open_store(env=state, mountinfo=table)
    assert [entry.name for entry in tmp_path.iterdir()] == ["mountinfo"]


def test_store_is_assumed_local_without_proc(tmp_path: Path) -> None:
    open_store(tmp_path / "assay.db", mountinfo=tmp_path / "absent").close()
    assert (tmp_path / "assay.db").exists()
