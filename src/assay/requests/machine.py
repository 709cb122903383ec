"""Requests of ``assay machine``."""

from __future__ import annotations

from assay.records.codec import Record


class MachineShowRequest(Record, frozen=True, kw_only=True):
    """Description of a machine.

    Attributes:
        root: path of the folder or archive of a recorded machine (default: ``None``, this machine).
    """

    root: str | None = None


class MachineCheckRequest(Record, frozen=True, kw_only=True):
    """Check of a machine against a profile.

    Attributes:
        profile: name of a built-in profile, or path of a file (default: ``measuring``).
        root: path of the folder or archive of a recorded machine (default: ``None``, this machine).
    """

    profile: str = "measuring"
    root: str | None = None


class MachineSnapshotRequest(Record, frozen=True, kw_only=True):
    """Archive of the files that assay reads of a machine.

    Attributes:
        path: path of the archive, with the suffix ``.tar.gz`` or ``.tgz``.
        root: path of the folder or archive of a recorded machine (default: ``None``, this machine).
    """

    path: str
    root: str | None = None


class MachineDiffRequest(Record, frozen=True, kw_only=True):
    """Comparison of two machines.

    Attributes:
        a, b: machines: a snapshot, a folder, a study, or ``live`` for this machine.
        root: path of the recorded machine that ``live`` stands for (default: ``None``, this
            machine).
    """

    a: str
    b: str = "live"
    root: str | None = None


class MachineApplyRequest(Record, frozen=True, kw_only=True):
    """Application of the settings of a profile, until they are restored or the next boot.

    Attributes:
        profile: name of a built-in profile, or path of a file.
        dry_run: list of the changes only (default: false).
    """

    profile: str
    dry_run: bool = False


class MachineRestoreRequest(Record, frozen=True, kw_only=True):
    """Restoration of the previous values of the undo journal.

    Attributes:
        force: restoration also of files that another program has changed since (default: false).
        dry_run: list of the changes only (default: false).
    """

    force: bool = False
    dry_run: bool = False
