"""Driver of the installed launcher."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.launch.driver import Driver, find_launcher

if TYPE_CHECKING:
    from assay.root_helper.helper import RootHelper


def local_driver(helper: RootHelper | None = None) -> Driver:
    """Return a driver of the installed launcher, with the environment of this process.

    Args:
        helper: process that starts the launcher, if this process has no privileges.

    Raises:
        NotPossibleError: the launcher is missing.
    """
    return Driver(helper or find_launcher(os.environ), os.environ)
