"""Hosts for tests: a recorded tree that behaves as the kernel's files do, and one with faults.

Both keep the contract of ``Host``. A test that holds what is applied against them holds it against
the order, the journal and the read-backs of the real one.
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
"""Of a write of a text into a path: what is written instead; ``None`` for nothing at all. It may
write elsewhere, and raise ``OSError``."""


class RecordedHost(LiveHost):
    """All that lies below a folder, changed in whole files as the kernel does.

    In a file that marks its choice with brackets they move; a word that it does not offer is
    refused.

    Args:
        base: the folder.
        effects: what else a write into a path does.
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
        """Change a file at once, with no moment in which it holds half of it."""
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
        return _Wish(self.devices[path], value)

    def swap(self, path: str, priority: int | None) -> None:
        """See ``Host.swap``."""
        self._swaps({**self._in_use(), path: -2 if priority is None else priority})

    def swap_off(self, path: str) -> None:
        """See ``Host.swap_off``."""
        areas = self._in_use()
        if areas.pop(path, None) is None:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        self._swaps(areas)

    def ask(self, path: str, question: str, patience_s: float) -> str:
        """See ``Host.ask``: nobody listens on a recorded tree but what a test lets listen."""
        return "" if path.startswith("@") else super().ask(path, question, patience_s)

    def _in_use(self) -> dict[str, int]:
        areas = swap_areas(self.read(SWAPS) or "")
        return {path: area.priority for path, area in areas.items()}

    def _swaps(self, areas: Mapping[str, int]) -> None:
        lines = [f"{path}\tfile\t1024\t0\t{areas[path]}" for path in sorted(areas)]
        self.put(SWAPS, "\n".join(["Filename\tType\tSize\tUsed\tPriority", *lines]))


@dataclass
class _Wish:
    wishes: list[int]
    value: int

    def read(self) -> str | None:
        return str(min(self.wishes)) if self.wishes else None

    def close(self) -> None:
        with contextlib.suppress(ValueError):
            self.wishes.remove(self.value)


class FaultyHost(RecordedHost):
    """A recorded tree of which one write fails, or comes to something else.

    Args:
        base: the folder.
        at: which write, counted from 1.
        fault: an error number; or a text that is there afterwards instead of what was written.
        effects: as of ``RecordedHost``.
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
