"""GuestHost: a guest as `assay.host.host.Host`, to which settings are applied."""

from __future__ import annotations

from dataclasses import dataclass

from assay.host.host import HeldRequest
from assay.machine.cpulist import parse_list

from .line import Line


class GuestHost:
    """Host that changes a guest. As `LiveHost`, its agent opens no path through a link.

    Args:
        line: connection to its agent.
    """

    def __init__(self, line: Line) -> None:
        self._line = line

    def read(self, path: str) -> str | None:
        """See ``Host.read``."""
        content = self.bytes_of(path)
        return None if content is None else content.decode(errors="replace").strip(" \t\r\n\0")

    def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file; ``None`` if it is unreadable."""
        try:
            return self._line.ask("read", path)
        except OSError:
            return None

    def write(self, path: str, text: str) -> None:
        """See ``Host.write``."""
        self._line.ask("write", path, f"{text}\n")

    def listdir(self, path: str) -> tuple[str, ...]:
        """See ``Host.listdir``."""
        try:
            return tuple(self._line.ask("list", path).decode().splitlines())
        except OSError:
            return ()

    def mkdir(self, path: str) -> None:
        """See ``Host.mkdir``."""
        self._line.ask("mkdir", path)

    def rmdir(self, path: str) -> None:
        """See ``Host.rmdir``."""
        self._line.ask("rmdir", path)

    def affinity(self, tid: int) -> tuple[int, ...]:
        """See ``Host.affinity``."""
        return parse_list(self._line.ask("affinity", str(tid)).decode())

    def set_affinity(self, tid: int, cpus: tuple[int, ...]) -> None:
        """See ``Host.set_affinity``."""
        self._line.ask("place", str(tid), *map(str, cpus))

    def hold(self, path: str, value: int) -> HeldRequest:
        """See ``Host.hold``."""
        return _Open(self._line, self._line.ask("hold", path, str(value)).decode())

    def swap(self, path: str, priority: int | None) -> None:
        """See ``Host.swap``."""
        self._line.ask("swap", path, str(-1 if priority is None else priority))

    def swap_off(self, path: str) -> None:
        """See ``Host.swap_off``."""
        self._line.ask("unswap", path)

    def ask(self, path: str, question: str, timeout_s: float) -> str:
        """See ``Host.ask``; no daemon runs in a guest of the tests."""
        return ""


@dataclass
class _Open:
    line: Line
    number: str

    def read(self) -> str | None:
        try:
            return self.line.ask("held", self.number).decode()
        except OSError:
            return None

    def close(self) -> None:
        if self.number:
            self.line.ask("close", self.number)
            self.number = ""
