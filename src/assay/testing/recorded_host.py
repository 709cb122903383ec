"""Hosts for tests: a recorded tree with the behaviour of kernel files, and one with faults.

Both satisfy the contract of ``Host``: tests of changes cover the same order, journal and read-backs
as on a real host.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.host.host import HeldRequest, LiveHost
from assay.machine.swaps import SWAPS, swap_areas

Effect = Callable[["RecordedHost", str, str], str | None]
"""Effect of writing a text into a path: returns the text to write instead, or ``None`` to write
nothing. It may write other files, and raise ``OSError``."""


class RecordedHost(LiveHost):
    """Recorded files below a folder, with atomic changes as in the kernel.

    In a file that marks its choice with brackets, a write moves them; a choice that is not listed
    is refused.

    Args:
        base: folder of the recorded files.
        effects: additional effects of a write, by path.
    """

    def __init__(self, base: Path, effects: Mapping[str, Effect] | None = None) -> None:
        super().__init__(base)
        self.base = base
        self._effects = dict(effects or {})
        self.devices: dict[str, list[int]] = {}

    def write(self, path: str, text: str) -> None:
        """See ``Host.write``."""
        effect = self._effects.get(path)
        changed = text if effect is None else effect(self, path, text)
        if changed is not None:
            self.put(path, changed)

    def put(self, path: str, text: str) -> None:
        """Replace a file atomically."""
        os.close(self._open(path, os.O_WRONLY))
        place = self.base / path.lstrip("/")
        before = place.read_text()
        words = before.split()
        if any(word.startswith("[") for word in words):
            if text not in [word.strip("[]") for word in words]:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
            marked = (f"[{w}]" if w == text else w for w in (word.strip("[]") for word in words))
            text = " ".join(marked)
        descriptor, name = tempfile.mkstemp(dir=self.base)
        with os.fdopen(descriptor, "w") as file:
            file.write(text + "\n")
        Path(name).rename(place)

    def hold(self, path: str, value: int) -> HeldRequest:
        """See ``Host.hold``."""
        os.close(self._open(path, os.O_WRONLY))
        self.devices.setdefault(path, []).append(value)
        return _DeviceRequest(self.devices[path], value)

    def swap(self, path: str, priority: int | None) -> None:
        """See ``Host.swap``."""
        self._swaps({**self._in_use(), path: -2 if priority is None else priority})

    def swap_off(self, path: str) -> None:
        """See ``Host.swap_off``."""
        areas = self._in_use()
        if areas.pop(path, None) is None:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        self._swaps(areas)

    def ask(self, path: str, question: str, timeout_s: float) -> str:
        """See ``Host.ask``: only listeners of the test answer on a recorded tree."""
        return "" if path.startswith("@") else super().ask(path, question, timeout_s)

    def _in_use(self) -> dict[str, int]:
        areas = swap_areas(self.read(SWAPS) or "")
        return {path: area.priority for path, area in areas.items()}

    def _swaps(self, areas: Mapping[str, int]) -> None:
        lines = [f"{path}\tfile\t1024\t0\t{areas[path]}" for path in sorted(areas)]
        self.put(SWAPS, "\n".join(["Filename\tType\tSize\tUsed\tPriority", *lines]))


@dataclass
class _DeviceRequest:
    wishes: list[int]
    value: int

    def read(self) -> str | None:
        return str(min(self.wishes)) if self.wishes else None

    def close(self) -> None:
        with contextlib.suppress(ValueError):
            self.wishes.remove(self.value)


class FaultyHost(RecordedHost):
    """A recorded tree in which one write fails or has another result.

    Args:
        base: folder of the recorded files.
        at: number of the write, from 1.
        fault: an error number, or the resulting text in place of the written one.
        effects: see ``RecordedHost``.
    """

    def __init__(
        self, base: Path, at: int, fault: int | str, effects: Mapping[str, Effect] | None = None
    ) -> None:
        super().__init__(base, effects)
        self._at = at
        self._fault = fault
        self.writes = 0

    def write(self, path: str, text: str) -> None:
        """See ``Host.write``."""
        self.writes += 1
        if self.writes != self._at:
            super().write(path, text)
        elif isinstance(self._fault, int):
            raise OSError(self._fault, os.strerror(self._fault), path)
        else:
            super().put(path, self._fault)
