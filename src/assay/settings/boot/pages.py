"""``boot.hugepages.SIZE``: a pool of huge pages of one size, allocated at boot.

It consists of two words of the command line, ``hugepagesz=1G hugepages=4``
(``Documentation/admin-guide/mm/hugetlbpage.rst``). Pages of 1 GiB should be allocated at boot,
since memory becomes fragmented later. Evidence: *seen*: the size of the pool.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.boot import normalised_name
from assay.machine.boot_state import COMMAND_LINE
from assay.machine.document import Machine
from assay.machine.tunables import HUGETLB
from assay.records import (
    AnyText,
    Configuration,
    Domain,
    Level,
    Value,
)
from assay.settings.base import Pending, Refused, Resolved
from assay.settings.boot.common import (
    ABSENT,
    BOOT,
    BootSetting,
    FileEvidence,
    booted_action,
    file_text,
    missing_words,
)
from assay.settings.refusals import out_of_domain
from assay.settings.value_text import format_value, parse_value

POOL_PREFIX = "hugepages."
"""Prefix of the names, after the family."""
_SIZE = re.compile(r"([1-9][0-9]*)([KMG])", re.IGNORECASE | re.ASCII)
_UNITS = "KMG"
_DOMAIN = AnyText(f"a number of pages, or {ABSENT}")


def page_size_in(name: str) -> str:
    """Return the page size in a name: ``1G`` for ``hugepages.1G``.

    Raises:
        InvalidInputError: the size is missing, invalid, or has another spelling; each pool has one
            name.
    """
    text = name.removeprefix(POOL_PREFIX)
    size = _size(text)
    if size is None:
        raise InvalidInputError(
            f"Invalid size of huge pages: {text!r}.",
            f"Write {BOOT}.{POOL_PREFIX}2M or {BOOT}.{POOL_PREFIX}1G.",
        )
    if text != size:
        raise InvalidInputError(
            f"{BOOT}.{name} has a second spelling: {text} is {size}.",
            f"Write {BOOT}.{POOL_PREFIX}{size}.",
        )
    return size


def _size(text: str) -> str | None:
    """Return a size in its largest unit, as the kernel writes it: ``1G`` for ``1024m``."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    number, unit = int(match[1]), _UNITS.index(match[2].upper())
    while number % 1024 == 0 and unit < len(_UNITS) - 1:
        number, unit = number // 1024, unit + 1
    return f"{number}{_UNITS[unit]}"


@dataclass(frozen=True)
class BootHugePages(BootSetting):
    """The pool of one page size, such as ``1G``: a number of pages, or ``absent``."""

    size: str
    evidence: Level = Level.SEEN

    @property
    def name(self) -> str:
        """Name on the command line."""
        return f"{BOOT}.{POOL_PREFIX}{self.size}"

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"pool of huge pages of {self.size} allocated at boot: number of pages"

    @property
    def arguments(self) -> frozenset[str]:
        """Names of its boot arguments."""
        return frozenset({"hugepages", "hugepagesz"})

    @property
    def changes(self) -> tuple[str, ...]:
        """Readings of the machine that it may change."""
        return ("memory limit",)

    def words(self, value: Value) -> tuple[str, ...]:
        """Return the words of the kernel's command line for a value."""
        return () if value == ABSENT else self._word(format_value(value))

    def is_same_value(self, value: Value, other: Value) -> bool:
        """Return whether two values are equal."""
        return self.words(value) == self.words(other)

    def domain(self, machine: Machine) -> Domain:
        """Return a number, or ``absent``."""
        return _DOMAIN

    def default(self, machine: Machine) -> Value | None:
        """Return the value of the present boot."""
        found = self._count(machine)
        return ABSENT if found is None else parse_value(found)

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """Return the evidence of the present boot, or the changes for the next one."""
        value = format_value(config[self.name])
        if value != ABSENT and not (value.isascii() and value.isdecimal()):
            return out_of_domain(self.name, config[self.name], _DOMAIN)
        held = self._count(machine)
        wanted = None if value == ABSENT else value
        if held != wanted:
            missing = missing_words(self._words(held), self._words(wanted))
            return Pending(missing, self._word(wanted), self._word(held))
        proof = self._pool(wanted, machine)
        if proof is not None and not proof.fits:
            return Pending(f"{self._words(held)} is set, but {proof.missing}")
        current = f"{self._words(held) or f'no hugepagesz={self.size}'} in {COMMAND_LINE}"
        needs = f"{self._words(wanted) or f'no hugepagesz={self.size}'} on the command line"
        return Resolved((booted_action(self.name, needs, current, [proof] if proof else []),))

    def _pool(self, wanted: str | None, machine: Machine) -> FileEvidence | None:
        kilobytes = int(self.size[:-1]) << 10 * _UNITS.index(self.size[-1])
        path = f"{HUGETLB}/hugepages-{kilobytes}kB/nr_hugepages"
        text = file_text(machine, path)
        if wanted is None:
            return None
        fits = text is not None and text.isdecimal() and int(text) >= int(wanted)
        return FileEvidence(path, text, fits, f"at least {wanted}")

    def _count(self, machine: Machine) -> str | None:
        """Return the number after the page size; the last one counts."""
        found: str | None = None
        size: str | None = None
        for word in machine.boot.arguments:
            key, _, text = word.partition("=")
            if normalised_name(key) == "hugepagesz":
                size = _size(text)
            elif normalised_name(key) == "hugepages" and size == self.size:
                found = text
        return found

    def _word(self, count: str | None) -> tuple[str, ...]:
        return () if count is None else (self._words(count),)

    def _words(self, count: str | None) -> str:
        return "" if count is None else f"hugepagesz={self.size} hugepages={count}"
