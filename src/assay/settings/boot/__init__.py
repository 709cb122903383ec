"""Settings of the boot and of the firmware, which only a reboot changes.

A study that varies them pauses, names the required changes, and resumes after the boot: see
``assay.study.booting``. assay never changes a boot loader or a firmware itself.
"""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.machine.boot import intended_argument
from assay.settings.base import Setting
from assay.settings.boot.argument import BootArgument
from assay.settings.boot.common import BOOT, FIRMWARE
from assay.settings.boot.firmware import FirmwareSetting
from assay.settings.boot.kernel import NAME as KERNEL_SETTING
from assay.settings.boot.kernel import BootKernel
from assay.settings.boot.pages import POOL_PREFIX, BootHugePages, page_size_in

RebootSetting = BootArgument | BootKernel | BootHugePages | FirmwareSetting


def as_reboot_setting(setting: Setting) -> RebootSetting | None:
    """Return the setting if it needs a reboot, else ``None``."""
    return setting if isinstance(setting, RebootSetting) else None


def on_demand(name: str) -> Setting | None:
    """Return the boot or firmware setting of that name; ``None`` for other families.

    Raises:
        InvalidInputError: the family is followed by an invalid or misspelt name.
    """
    family, _, rest = name.partition(".")
    if not rest:
        return None
    if family == FIRMWARE:
        return FirmwareSetting(rest)
    if name == KERNEL_SETTING:
        return BootKernel()
    if family == BOOT and rest.startswith(POOL_PREFIX):
        return BootHugePages(page_size_in(rest))
    if family != BOOT:
        return None
    setting = BootArgument(rest)
    if (near := intended_argument(rest)) is not None:
        raise InvalidInputError(f"Unknown boot argument: {rest!r}.", f"Did you mean {BOOT}.{near}?")
    return setting
