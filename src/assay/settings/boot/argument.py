"""``boot.ARG``: an argument of the kernel's command line.

Evidence: *seen* if a file of the kernel shows that it took effect, else *set*: it is on the command
line. The meaning of repeated arguments depends on the argument, so the value contains all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import InvalidInputError
from assay.machine.boot import argument_name, digested_argument, is_digest, normalised_name
from assay.machine.boot_state import COMMAND_LINE
from assay.machine.document import Machine
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
    PRESENT,
    BootSetting,
    booted_action,
    missing_words,
)
from assay.settings.boot.effects import argument_info, impossible_reason, is_verifiable
from assay.settings.value_text import format_value, parse_value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
_INVALID = re.compile(r"[\x00-\x1f\x7f\"']")


@dataclass(frozen=True)
class BootArgument(BootSetting):
    """A boot argument; its value is the text after the equals sign, ``present`` or ``absent``."""

    argument: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.argument):
            raise InvalidInputError(
                f"Invalid name of a boot argument: {self.argument!r}.",
                "Names consist of letters, digits, dots and underscores.",
            )
        if self.argument != normalised_name(self.argument):
            raise InvalidInputError(
                f"{self.name} has a second spelling: the kernel treats dashes as underscores.",
                f"Write {BOOT}.{normalised_name(self.argument)}.",
            )

    @property
    def name(self) -> str:
        """Name on the command line of assay."""
        return f"{BOOT}.{self.argument}"

    @property
    def summary(self) -> str:
        """One-line description."""
        return f"kernel boot argument {self.argument}: its value, {PRESENT} or {ABSENT}"

    @property
    def evidence(self) -> Level:
        """*Seen* if a file shows the effect."""
        return Level.SEEN if is_verifiable(self.argument) else Level.SET

    @property
    def arguments(self) -> frozenset[str]:
        """Names of the boot arguments that the setting controls."""
        return frozenset({self.argument})

    @property
    def changes(self) -> tuple[str, ...]:
        """Readings of the machine that it may change."""
        return argument_info(self.argument).changes

    def words(self, value: Value) -> tuple[str, ...]:
        """Return the words of the kernel's command line for a value."""
        return tuple(self._words_of(format_value(value)))

    def is_same_value(self, value: Value, other: Value) -> bool:
        """Return whether two values are equal, one of which may be a digest."""
        texts = (list(map(digested_argument, self.words(side))) for side in (value, other))
        return next(texts) == next(texts)

    def domain(self, machine: Machine) -> Domain:
        """Return any text that the kernel accepts."""
        return AnyText(f"a value that the kernel accepts, {PRESENT} or {ABSENT}")

    def default(self, machine: Machine) -> Value | None:
        """Return the value of the present boot."""
        values = [word.partition("=") for word in self._current_words(machine)]
        if not values:
            return ABSENT
        return parse_value(" ".join(text if equals else PRESENT for _, equals, text in values))

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused | Pending:
        """Return the evidence of the present boot, or the changes for the next one.

        Raises:
            InvalidInputError: the value is invalid on a command line, or is a digest.
        """
        value = format_value(config[self.name])
        if _INVALID.search(value) or not value.strip():
            raise InvalidInputError(
                f"Invalid value of a boot argument: {self.name}={value!r}.",
                f"Remove quotes; {PRESENT} is the argument without a value.",
            )
        if is_digest(value):
            raise InvalidInputError(
                f"{self.name}={value} is the digest that assay stores in place of a value.",
                "Write the value itself.",
            )
        reason = impossible_reason(self.argument, value, machine)
        if reason is not None:
            return Refused(reason)
        wanted = self._words_of(value)
        held = self._current_words(machine)
        needs = f"{' '.join(wanted) or f'no {self.argument}'} on the kernel's command line"
        if [digested_argument(word) for word in wanted] != held:
            add, removed = _change(held, wanted)
            # The whole words as written there: users search the boot loader's configuration for
            # them.
            remove = (w for w in self._written_words(machine) if self._normalised(w) in removed)
            missing = missing_words(" ".join(held), " ".join(wanted))
            return Pending(missing, add, tuple(dict.fromkeys(remove)))
        effect = argument_info(self.argument).effect
        proof = effect(value, machine) if effect is not None else None
        if proof is not None and not proof.fits:
            state = f"{' '.join(held)} is set" if held else f"{self.argument} is not set"
            return Pending(f"{state}, but {proof.missing}")
        evidence = f"{' '.join(held) or f'no {self.argument}'} in {COMMAND_LINE}"
        action = booted_action(self.name, needs, evidence, [proof] if proof is not None else [])
        return Resolved((action,))

    def _words_of(self, value: str) -> list[str]:
        if value == ABSENT:
            return []
        return [
            self.argument if text == PRESENT else f"{self.argument}={text}"
            for text in dict.fromkeys(value.split())
        ]

    def _current_words(self, machine: Machine) -> list[str]:
        """Return the arguments of the present boot, each once, spelled as in the setting."""
        return list(dict.fromkeys(map(self._normalised, self._written_words(machine))))

    def _written_words(self, machine: Machine) -> list[str]:
        """Return the arguments of the present boot as written on the command line."""
        return [word for word in machine.boot.arguments if argument_name(word) == self.argument]

    def _normalised(self, word: str) -> str:
        """Return an argument, spelled as in the setting."""
        _, equals, text = word.partition("=")
        return f"{self.argument}{equals}{text}"


def _change(held: Sequence[str], wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words to add and to remove; all of them if the order changes."""
    texts = [digested_argument(word) for word in wanted]
    stays = [word for word in held if word in texts]
    if stays != texts[: len(stays)]:
        return tuple(wanted), tuple(held)
    return tuple(wanted[len(stays) :]), tuple(word for word in held if word not in texts)
