"""What a study waits for: another boot."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Value


class BootChange(Record, frozen=True, kw_only=True):
    """The boot that the next launches of a study need.

    Attributes:
        settings: what it is to have, by name.
        missing: what was read of the present one, and what is missing.
        add, remove: words for the kernel's command line, and those that must go.
        words: all that is to stand there for ``settings``.
        firmware: what the firmware's menu is to hold, by name.
        kernel: release of the kernel that is to run, where the study sets ``boot.kernel``.
        running: release of the kernel that runs in its place.
        confirm: settings among them that nobody can read: the user says that they hold.
        anew: it is the present one, booted once more: a claim rests on separate boots.
        unbrought: there was a boot since the last launch, and it did not bring this.
    """

    settings: dict[str, Value]
    missing: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    firmware: dict[str, str] = {}
    kernel: str | None = None
    running: str | None = None
    confirm: tuple[str, ...] = ()
    anew: bool = False
    unbrought: bool = False
