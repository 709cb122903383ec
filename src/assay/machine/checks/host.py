"""Host: access to files for checks; a missing value raises ``UnreadableError``."""

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
    """A machine at one point in time.

    Attributes:
        root: root of its files.
        interval: counters over a short time; ``None`` for a recorded tree.
    """

    root: Root
    interval: Interval | None = None

    def text(self, path: str) -> str:
        """Return the content of a file.

        Raises:
            UnreadableError: the file cannot be read.
        """
        found = self.root.read_text(path)
        if found is None:
            raise self.unread(path)
        return found

    def number(self, path: str) -> int:
        """Return the decimal number in a file.

        Raises:
            UnreadableError: the file cannot be read, or contains no number.
        """
        found = self.root.read_int(path)
        if found is None:
            raise self.unread(path, f"contains no number: {self.text(path)[:40]!r}")
        return found

    def kilobytes(self, path: str, name: str) -> int:
        """Return a value of a memory table, in kB (``proc_meminfo(5)``).

        Raises:
            UnreadableError: the file cannot be read, or lacks the value.
        """
        match = re.search(rf"\b{name}:\s*(\d{{1,18}}) kB", self.text(path), re.ASCII)
        if match is None:
            raise self.unread(path, f"contains no {name}")
        return int(match[1])

    def choice(self, path: str) -> str:
        """Return the word in brackets: the selected one of several.

        Raises:
            UnreadableError: the file cannot be read, or marks no word.
        """
        text = self.text(path)
        word = selected_word(text)
        if word is None:
            raise self.unread(path, f"marks no word with brackets: {text[:40]!r}")
        return word

    def cpus(self, path: str) -> frozenset[int]:
        """Return the CPUs of a file with a list; some kernels write ``(null)`` for an empty one.

        Raises:
            UnreadableError: the file cannot be read, or contains no list.
        """
        text = self.text(path)
        try:
            return frozenset(parse_list("" if text == "(null)" else text))
        except InvalidInputError:
            raise self.unread(path, f"contains no list of CPUs: {text[:40]!r}") from None

    def optional_cpus(self, path: str) -> frozenset[int]:
        """Return the CPUs in a file; an empty set if the file is missing.

        Raises:
            UnreadableError: the file exists, but cannot be read.
        """
        return self.cpus(path) if self.root.exists(path) else frozenset()

    def mask(self, path: str) -> frozenset[int]:
        """Return the CPUs of a file with a hexadecimal mask.

        Raises:
            UnreadableError: the file cannot be read, or contains no mask.
        """
        text = self.text(path)
        try:
            return frozenset(parse_mask(text))
        except InvalidInputError:
            raise self.unread(path, f"contains no mask: {text[:40]!r}") from None

    def names(self, folder: str, pattern: str) -> tuple[str, ...]:
        """Return the matching names in a directory; those with numbers in numeric order.

        Raises:
            UnreadableError: no name matches.
        """
        found = [name for name in self.root.listdir(folder) if re.fullmatch(pattern, name)]
        if not found:
            raise self.unread(folder, f"contains no {_pattern_words(pattern)}")
        return tuple(sorted(found, key=_by_number))

    def present(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the content of the readable files, by path.

        Raises:
            UnreadableError: no file can be read; the text names the first.
        """
        listed = tuple(paths)
        found = {path: self.root.read_text(path) for path in listed}
        kept = {path: text for path, text in found.items() if text}
        if not kept:
            raise self.unread(listed[0])
        return kept

    def processes(self) -> frozenset[str]:
        """Return the names of all programs that run on the host.

        Raises:
            UnreadableError: only some are visible: in a container, or if /proc hides processes.
        """
        if self.root.read_text("/proc/2/comm") != _KERNEL_THREADS:
            # The thread with this number is the same on every host, and belongs to root.
            raise UnreadableError(
                "/proc does not show all processes: it belongs to a container, hides processes of"
                " other users, or was not recorded",
            )
        numbers = (name for name in self.root.listdir("/proc") if name.isdecimal())
        found = (self.root.read_text(f"/proc/{number}/comm") for number in numbers)
        return frozenset(filter(None, found))

    def unread(self, path: str, problem: str | None = None) -> UnreadableError:
        """Return the error for a path."""
        if problem and self.root.exists(path):
            return UnreadableError(f"{path} {problem}")
        if not self.root.exists(path):
            return UnreadableError(f"{path} is missing")
        remedy = Remedy("Run the check as root.", Right.ROOT) if self.root.live else None
        return UnreadableError(f"{path} cannot be read", remedy)


def _pattern_words(pattern: str) -> str:
    """Return a pattern in words, with ``N`` for a number: ``policyN``."""
    return pattern.replace(r"\d+", "N")


def _by_number(name: str) -> tuple[int, str]:
    match = re.search(r"\d+", name)
    return (int(match[0]) if match else -1, name)
