"""Design: how the cells of a sweep were laid out, and what a factorial one tells of its factors."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.configuration import Value


class DesignKind(enum.StrEnum):
    """How cells are chosen from a space."""

    GRID = "grid"
    FACTORIAL = "factorial"
    RANDOM = "random"
    LATIN_HYPERCUBE = "latin-hypercube"


class Design(Record, frozen=True, kw_only=True):
    """The design of a sweep.

    Attributes:
        kind: how cells are chosen.
        n: cells to draw: for ``random`` and ``latin-hypercube``.
        generators: of a fractional factorial design, as ``d = a * b * c``; none: a full one.
        centre: whether cells in the middle of all numbers stand beside a factorial design.
        repeats: complete blocks to run; absent: until what is asked is known.
        notes: what was left out of it, and why.
    """

    kind: DesignKind
    n: int | None = None
    generators: tuple[str, ...] = ()
    centre: bool = False
    repeats: int | None = None
    notes: tuple[str, ...] = ()


class EffectKind(enum.StrEnum):
    """What of a factorial design an effect is."""

    MAIN = "main"
    INTERACTION = "interaction"
    CURVATURE = "curvature"


class EffectVerdict(enum.StrEnum):
    """What an effect shows.

    Main effects are *faster* or *slower* at the high level; two factors *interact* where the
    effect of one depends on the other; the middle is *curved* where it is not what the ends say.
    """

    FASTER = "faster"
    SLOWER = "slower"
    INTERACT = "interact"
    CURVED = "curved"
    SAME = "same"
    UNCLEAR = "unclear"


class FactorEffect(Record, frozen=True, kw_only=True):
    """An effect in a two-level factorial design, as a ratio of geometric means.

    Attributes:
        kind: of effect.
        factors: settings it is of; two for an interaction, none for the curvature.
        low, high: levels of a main effect.
        ratio: main: at the high level over at the low one. Interaction: the effect of one factor is
            this many times larger at the high level of the other than on average. Curvature: the
            middle over the corners.
        ci: interval of the ratio, valid at every look; ``None`` for an open end.
        blocks: complete blocks that it rests on.
        alpha: share of wrong intervals accepted, after correction for how many are shown.
        aliases: effects of up to two factors that this design cannot tell from it.
        bound_only: time-outs leave no more than a bound.
    """

    kind: EffectKind
    factors: tuple[str, ...] = ()
    low: Value | None = None
    high: Value | None = None
    ratio: float
    ci: tuple[float | None, float | None]
    verdict: EffectVerdict
    blocks: int
    alpha: float
    method: str
    aliases: tuple[tuple[str, ...], ...] = ()
    bound_only: bool = False
