"""Request of ``assay compare``."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records.codec import Record
from assay.requests.checks import demand_whole
from assay.requests.study import DecisionRequest


class ComparedCommand(Record, frozen=True, kw_only=True):
    """One of several commands to compare.

    Attributes:
        name: default name of its arm.
        argv: words of the command.
    """

    name: str
    argv: tuple[str, ...]


class CompareRequest(DecisionRequest, frozen=True, kw_only=True):
    """Comparison of commands or configurations in interleaved blocks.

    Attributes:
        commands: commands to compare, the baseline first; the workload has the words of the first
            one (default: none; arms differ in settings).
        arms: arms of one command, each as ``SETTING=VALUE ...``, as the name of a configuration of
            ``space_file``, or both; a single one is compared with the default (default: all named
            configurations).
        names: names of the arms, in their order (default: command or settings).
        space_file: path of a TOML file with named configurations (default: none).
        warmup: number of warm-up launches of each arm (default: ``None``, which means 1).
        gate: verdicts that make the exit status 1 (default: none).
    """

    commands: tuple[ComparedCommand, ...] = ()
    arms: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    space_file: str | None = None
    warmup: int | None = None
    gate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a value is invalid, or the arms are missing or ambiguous.
        """
        super().__post_init__()
        demand_whole("warmup", self.warmup, 0)
        of_settings = bool(self.arms or self.space_file)
        if bool(self.commands) is of_settings:
            raise InvalidInputError(
                "A comparison takes either commands or arms.",
                "Give commands, or arms and space_file.",
            )
        if len(self.commands) == 1:
            raise InvalidInputError("commands: there is only one.", "Give at least two.")
