"""Context of a request: store, observer and process; driver of its launches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from assay.api.observer import Observer
from assay.launch.driver import Driver, find_launcher

if TYPE_CHECKING:
    from assay.root_helper.helper import RootHelper
    from assay.study.stop import StopSignal


class Preparation(Protocol):
    """Preparation of this process before its first launch."""

    def __call__(self, reads: tuple[type, ...], *, launches: bool = True) -> None:
        """Prepare this process.

        Args:
            reads: records that this process decodes later.
            launches: the request launches programs; otherwise nothing of a killed assay is undone.

        Raises:
            NotPossibleError: the undo journal is not accessible.
        """
        ...


class Context(NamedTuple):
    """Context in which a request is executed.

    Attributes:
        prepare: preparation of this process before its first launch.
        db: path or URL of the store; ``None`` for the default one.
        observer: receiver of the announcements.
        helper: process with root privileges, if this process has given them up.
        stop: request of another thread to stop the study; ``None`` if no thread can make it.
    """

    prepare: Preparation
    db: str | None = None
    observer: Observer = Observer()
    helper: RootHelper | None = None
    stop: StopSignal | None = None


def local_driver(helper: RootHelper | None = None) -> Driver:
    """Return a driver of the installed launcher, with the environment of this process.

    Args:
        helper: process that starts the launcher, if this process has no privileges.

    Raises:
        NotPossibleError: the launcher is missing.
    """
    return Driver(helper or find_launcher(os.environ), os.environ)
