"""Boot changes: the boot that a paused study needs."""

from __future__ import annotations

from assay.records.codec import Record
from assay.records.configuration import Value


class BootChange(Record, frozen=True, kw_only=True):
    """The boot that the next launches of a study need.

    Attributes:
        settings: required values, by setting.
        missing: the unsatisfied requirements, with the values of the present boot.
        add: arguments to add to the kernel's command line.
        remove: arguments to remove from the kernel's command line.
        required_arguments: all arguments that ``settings`` need on the command line.
        firmware: required values in the firmware's menu, by name.
        kernel: release of the required kernel, if the study sets ``boot.kernel``.
        running_kernel: release of the running kernel, if it is another one.
        unconfirmed: settings that assay cannot read and the user has to confirm.
        repeat_boot: true if the same boot is needed once more, because claims rest on separate
            boots.
        missing_after_boot: true if the machine was rebooted since the last launch, without this
            change.
    """

    settings: dict[str, Value]
    missing: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    required_arguments: tuple[str, ...] = ()
    firmware: dict[str, str] = {}
    kernel: str | None = None
    running_kernel: str | None = None
    unconfirmed: tuple[str, ...] = ()
    repeat_boot: bool = False
    missing_after_boot: bool = False
