"""Request of a share of a partition, in the syntax of ``--reserve``.

The syntax is specific to assay; the possible requests are those of yod of mOS:
docs/reference/mos-equivalents.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal, get_args

from assay.errors import InvalidInputError, nearest
from assay.machine.cpulist import parse_list, parse_mask
from assay.partition.ranks import LocalRank, RankLayout, local_rank
from assay.units import parse_bytes

Algorithm = Literal["numa", "simple", "random"]
ALGORITHMS: tuple[str, ...] = get_args(Algorithm)
KEYS = (
    *("share", "cpus", "cores", "list", "mem", "gpus"),
    *("utility", "partial", "algorithm", "layout"),
)
LAYOUTS = ("compact", "scatter", "scatter:STRIDE", "disabled")
MAP = "map:"
"""Prefix of the name of a file with a request for each rank."""
_PARTS = re.compile(r",(?=[a-z]+=)")
_FRACTION = re.compile(r"(\d+)/(\d+)|(\d*\.\d+)", re.ASCII)
_MAX_MAP_BYTES = 1 << 20


@dataclass(frozen=True)
class Amount:
    """Number, or fraction of the total of a partition."""

    number: int | None = None
    part: Fraction | None = None

    def of(self, total: int) -> int:
        """Return the amount for a total; a fraction is rounded down, to at least one."""
        if self.number is not None:
            return self.number
        assert self.part is not None
        return max(1, math.floor(self.part * total))

    def __str__(self) -> str:
        if self.part is None:
            return str(self.number)
        return "all" if self.part == 1 else str(self.part)


ALL = Amount(part=Fraction(1))


@dataclass(frozen=True)
class ShareRequest:
    """Requested share. Values of ``None`` are chosen by the partition.

    Attributes:
        cpus: number of CPUs; rounded up to whole cores, unless ``partial``.
        cores: number of whole cores.
        listed: exact list of CPUs; empty for any.
        memory: bytes, or a fraction.
        gpus: number of GPUs.
        utility: number of these CPUs for helper threads.
        partial: whether parts of cores are allowed; another run may use the rest.
        algorithm: ``numa``: as close together as possible; ``simple``: lowest numbers; ``random``:
            any.
        layout: layout of the ranks of a parallel job; ``None`` for order of arrival.
    """

    cpus: Amount | None = None
    cores: Amount | None = None
    listed: tuple[int, ...] = ()
    memory: Amount | None = None
    gpus: Amount | None = None
    utility: int = 0
    partial: bool = False
    algorithm: Algorithm = "numa"
    layout: RankLayout | None = None


def parse_share_request(text: str, env: Mapping[str, str]) -> ShareRequest:
    """Parse a request: ``cpus=2,mem=4G``, ``share=1/2``, ``list=2-3,6,mem=1G``, ``all``.

    Amounts are numbers (``mem`` with a unit), fractions (``1/4``, ``0.25``), ``all``, or ``MPI``:
    an equal part for each process of a parallel job on this host. ``map:FILE`` takes the line of
    this process's rank, or of ``*``.

    Args:
        text: text of the option.
        env: environment, which names the rank of a parallel job.

    Raises:
        InvalidInputError: the text is invalid; the message names the part.
    """
    rank = local_rank(env)
    if text.startswith(MAP):
        text = _line_of(Path(text.removeprefix(MAP)), rank)
    given: dict[str, str] = {}
    text = text.strip()
    for part in _PARTS.split("share=all" if text == "all" else text):
        name, sign, value = part.partition("=")
        if not sign or not value:
            raise InvalidInputError(f"--reserve: invalid part {part!r}.", "Example: cpus=2,mem=4G")
        if name not in KEYS:
            near = nearest(name, KEYS)
            raise InvalidInputError(
                f"--reserve: unknown key {name!r}.",
                f"Did you mean {near}?" if near else f"Known keys: {', '.join(KEYS)}.",
            )
        if name in given:
            raise InvalidInputError(f"--reserve: {name} occurs twice.", "Use it once.")
        given[name] = value
    return _share_request(given, rank)


def _share_request(given: Mapping[str, str], rank: LocalRank | None) -> ShareRequest:
    _demand_single(given, ("share", "cpus", "cores", "list"))
    _demand_single(given, ("share", "mem"))
    _demand_single(given, ("share", "gpus"))
    share = _amount("share", given["share"], rank) if "share" in given else None
    if share is not None and share.part is None:
        raise InvalidInputError(
            f"share={given['share']} is not a fraction of a partition.", "Use 1/2, 0.5, all or MPI."
        )
    algorithm = given.get("algorithm", "numa")
    if algorithm not in ALGORITHMS:
        raise InvalidInputError(
            f"--reserve: unknown algorithm {algorithm!r}.", f"Known: {', '.join(ALGORITHMS)}."
        )
    amounts = {
        name: _amount(name, given[name], rank)
        for name in ("cpus", "cores", "gpus", "mem")
        if name in given
    }
    return ShareRequest(
        cpus=amounts.get("cpus"),
        cores=amounts.get("cores", share),
        listed=_listed(given["list"]) if "list" in given else (),
        memory=amounts.get("mem", share),
        gpus=amounts.get("gpus", share),
        utility=_number("utility", given.get("utility", "0")),
        partial=_yes_or_no("partial", given.get("partial", "no")),
        algorithm=algorithm,  # type: ignore[arg-type]  # it is one of them
        layout=_layout(given, rank),
    )


def _layout(given: Mapping[str, str], rank: LocalRank | None) -> RankLayout | None:
    text = given.get("layout", "disabled")
    if text == "disabled":
        return None
    word, colon, stride = text.partition(":")
    if word not in ("compact", "scatter") or (colon and word == "compact"):
        raise InvalidInputError(
            f"--reserve: unknown layout {text!r}.", f"Known: {', '.join(LAYOUTS)}."
        )
    if "list" in given or not {"share", "cpus", "cores"} & given.keys():
        raise InvalidInputError(
            f"layout={text} needs equal parts, but their size is missing.",
            "Add share, cpus or cores, for example share=MPI,layout=compact",
        )
    _ranks("layout", rank)
    assert rank is not None
    if word == "compact":
        return RankLayout(rank)
    number = _number("layout", stride) if colon else None
    if number == 0:
        raise InvalidInputError("The stride must be above zero.", "Example: layout=scatter:2.")
    return RankLayout(rank, number)


def _demand_single(given: Mapping[str, str], names: tuple[str, ...]) -> None:
    both = [name for name in names if name in given]
    if len(both) > 1:
        raise InvalidInputError(
            f"--reserve: {both[0]} and {both[1]} exclude each other.", "Use one of them."
        )


def _amount(name: str, text: str, rank: LocalRank | None) -> Amount:
    if text == "all":
        return ALL
    if text == "MPI":
        return Amount(part=Fraction(1, _ranks(f"{name}=MPI", rank)))
    if match := _FRACTION.fullmatch(text):
        part = Fraction(match[3]) if match[3] else _fraction(text, int(match[1]), int(match[2]))
        if not 0 < part <= 1:
            raise InvalidInputError(
                f"{name}={text} is not a fraction between 0 and 1.", "Examples: 1/4, 0.25."
            )
        return Amount(part=part)
    number = parse_bytes(text) if name == "mem" else _number(name, text)
    if number == 0 and name != "gpus":
        raise InvalidInputError(f"{name}=0 is too small.", f"Omit {name}.")
    return Amount(number=number)


def _fraction(text: str, numerator: int, denominator: int) -> Fraction:
    if denominator == 0:
        raise InvalidInputError(f"{text} divides by zero.", "Example: 1/4.")
    return Fraction(numerator, denominator)


def _ranks(name: str, rank: LocalRank | None) -> int:
    if rank is None or rank.count is None:
        raise InvalidInputError(
            f"{name} needs the number of job processes on this host.",
            "Start assay by the job's launcher (mpirun, srun with --ntasks-per-node), or use a "
            "fraction.",
        )
    return rank.count


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InvalidInputError(f"{name}={text} is not a number.", f"Example: {name}=2.")
    return int(text)


def _yes_or_no(name: str, text: str) -> bool:
    if text not in ("yes", "no"):
        raise InvalidInputError(
            f"{name}={text} is neither yes nor no.", f"Use {name}=yes, or omit it."
        )
    return text == "yes"


def _listed(text: str) -> tuple[int, ...]:
    found = parse_mask(text) if text.lower().startswith("0x") else parse_list(text)
    if not found:
        raise InvalidInputError("list= names no CPU.", "Examples: list=2-3,6, list=0x4c.")
    return found


def _line_of(path: Path, rank: LocalRank | None) -> str:
    """Return a rank's line of a map file: ``RANK SPEC``, ``*`` for other ranks; ``#`` comments."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_MAP_BYTES).decode(errors="replace")
    except OSError as error:
        raise InvalidInputError(
            f"The map file {path} cannot be read: {error.strerror}.", "Check its name."
        ) from error
    others: str | None = None
    for number, line in enumerate(content.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not (words[0] == "*" or words[0].isdecimal()):
            raise InvalidInputError(
                f"Line {number} of {path} is invalid: {line.strip()!r}.",
                "Example of a line (a rank or *, then a request): 0 cpus=2,mem=1G",
            )
        if rank is not None and words[0] != "*" and int(words[0]) == rank.number:
            return words[1]
        if words[0] == "*":
            others = words[1]
    if rank is None and others is None:
        raise InvalidInputError(
            f"{path} has lines for ranks only, but the rank of this process is unknown.",
            "Start assay by the job's launcher (mpirun, srun), or add a line for *.",
        )
    if others is None:
        assert rank is not None
        raise InvalidInputError(
            f"{path} has no line for rank {rank.number}.", "Add a line for this rank or for *."
        )
    return others
