"""Host: what checks look at; whatever cannot be read ends a check with ``UnreadableError``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.checks.finding import Remedy, Right, UnreadableError
from assay.machine.checks.sampling import Interval
from assay.machine.cpulist import parse_list, parse_mask
from assay.machine.root import Root
from assay.machine.value_formats import selected_word

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"

_KERNEL_THREADS = "kthreadd"


@dataclass(frozen=True)
class Host:
    """One machine at one moment.

    Attributes:
        root: where its files are read.
        interval: what happened in a short time; ``None`` of a recorded tree, which is one moment.
    """

    root: Root
    interval: Interval | None = None

    def text(self, path: str) -> str:
        """Content of a file.

        Raises:
            Unread: names it.
        """
        found = self.root.read_text(path)
        if found is None:
            raise self.unread(path)
        return found

    def number(self, path: str) -> int:
        """The decimal number that a file holds.

        Raises:
            Unread: names it.
        """
        found = self.root.read_int(path)
        if found is None:
            raise self.unread(path, f"holds no number: {self.text(path)[:40]!r}")
        return found

    def kilobytes(self, path: str, name: str) -> int:
        """A line of a table of memory (``proc_meminfo(5)``).

        Raises:
            Unread: names the file.
        """
        match = re.search(rf"\b{name}:\s*(\d{{1,18}}) kB", self.text(path), re.ASCII)
        if match is None:
            raise self.unread(path, f"tells no {name}")
        return int(match[1])

    def choice(self, path: str) -> str:
        """The word in brackets: the one of several that is in force.

        Raises:
            Unread: names the file.
        """
        text = self.text(path)
        word = selected_word(text)
        if word is None:
            raise self.unread(path, f"marks no word with brackets: {text[:40]!r}")
        return word

    def cpus(self, path: str) -> frozenset[int]:
        """CPUs of a file that holds a list; ``(null)`` is how some kernels write none.

        Raises:
            Unread: names the file.
        """
        text = self.text(path)
        try:
            return frozenset(parse_list("" if text == "(null)" else text))
        except InvalidInputError:
            raise self.unread(path, f"holds no list of CPUs: {text[:40]!r}") from None

    def cpus_if_there(self, path: str) -> frozenset[int]:
        """The same; none where there is no such file.

        Raises:
            Unread: it is there, and cannot be read.
        """
        return self.cpus(path) if self.root.exists(path) else frozenset()

    def mask(self, path: str) -> frozenset[int]:
        """CPUs of a file that holds a hexadecimal mask.

        Raises:
            Unread: names the file.
        """
        text = self.text(path)
        try:
            return frozenset(parse_mask(text))
        except InvalidInputError:
            raise self.unread(path, f"holds no mask: {text[:40]!r}") from None

    def names(self, folder: str, pattern: str) -> tuple[str, ...]:
        """Names in a folder that match as a whole; those with numbers in numeric order.

        Raises:
            Unread: there is none.
        """
        found = [name for name in self.root.listdir(folder) if re.fullmatch(pattern, name)]
        if not found:
            raise self.unread(folder, f"names no {_plain(pattern)}")
        return tuple(sorted(found, key=_by_number))

    def present(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> text of those files that can be read.

        Raises:
            Unread: none can; names the first.
        """
        listed = tuple(paths)
        found = {path: self.root.read_text(path) for path in listed}
        kept = {path: text for path, text in found.items() if text}
        if not kept:
            raise self.unread(listed[0])
        return kept

    def processes(self) -> frozenset[str]:
        """Names of all programs that run on the host.

        Raises:
            Unread: it shows only some: in a container, or where /proc hides those of others.
        """
        if self.root.read_text("/proc/2/comm") != _KERNEL_THREADS:
            # The thread of this number is the same on every host, and belongs to root.
            raise UnreadableError(
                "/proc shows not all processes: it is that of a container, hides those of other "
                "users, or was not recorded",
            )
        numbers = (name for name in self.root.listdir("/proc") if name.isdecimal())
        found = (self.root.read_text(f"/proc/{number}/comm") for number in numbers)
        return frozenset(filter(None, found))

    def unread(self, path: str, what: str | None = None) -> UnreadableError:
        """That a path says nothing, and why."""
        if what and self.root.exists(path):
            return UnreadableError(f"{path} {what}")
        if not self.root.exists(path):
            return UnreadableError(f"{path} is not there")
        remedy = Remedy("Check as root.", Right.ROOT) if self.root.live else None
        return UnreadableError(f"{path} cannot be read", remedy)


def _plain(pattern: str) -> str:
    """A pattern in words, ``N`` for a number: ``policyN``."""
    return pattern.replace(r"\d+", "N")


def _by_number(name: str) -> tuple[int, str]:
    match = re.search(r"\d+", name)
    return (int(match[0]) if match else -1, name)
