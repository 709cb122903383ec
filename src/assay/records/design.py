"""Design: selection of the cells of a sweep, and effects of the factors of a factorial design."""

from __future__ import annotations

import enum

from assay.records.codec import Record
from assay.records.configuration import Value


class DesignKind(enum.StrEnum):
    """Method that selects cells from a space."""

    GRID = "grid"
    FACTORIAL = "factorial"
    RANDOM = "random"
    LATIN_HYPERCUBE = "latin-hypercube"


class Design(Record, frozen=True, kw_only=True):
    """Design of a sweep.

    Attributes:
        kind: method that selects the cells.
        n: number of cells of ``random`` and ``latin-hypercube``.
        generators: generators of a fractional factorial design, such as ``d = a * b * c``; empty
            for a full one.
        centre: true if a factorial design has centre points.
        repeats: number of complete blocks; absent: until all questions are decided.
        notes: omitted cells, with the reason.
    """

    kind: DesignKind
    n: int | None = None
    generators: tuple[str, ...] = ()
    centre: bool = False
    repeats: int | None = None
    notes: tuple[str, ...] = ()


class EffectKind(enum.StrEnum):
    """Kind of an effect in a factorial design."""

    MAIN = "main"
    INTERACTION = "interaction"
    CURVATURE = "curvature"


class EffectVerdict(enum.StrEnum):
    """Result for an effect.

    Main effects are *faster* or *slower* at the high level. Two factors *interact* if the effect of
    one depends on the other. The response is *curved* if the centre differs from the interpolation
    of the corners.
    """

    FASTER = "faster"
    SLOWER = "slower"
    INTERACT = "interact"
    CURVED = "curved"
    SAME = "same"
    UNCLEAR = "unclear"


class FactorEffect(Record, frozen=True, kw_only=True):
    """Effect in a two-level factorial design, as a ratio of geometric means.

    Attributes:
        kind: kind of the effect.
        factors: the settings involved: one for a main effect, two for an interaction, none for the
            curvature.
        low: low level of a main effect.
        high: high level of a main effect.
        ratio: main effect: high level over low level. Interaction: factor by which the effect of
            one setting is larger at the high level of the other than on average. Curvature: centre
            over corners.
        ci: interval of the ratio, valid at every interim analysis; ``null`` for an open end.
        verdict: result for the effect.
        blocks: number of complete blocks.
        alpha: accepted error rate of the interval, corrected for the number of effects.
        method: estimator of ``ratio``.
        aliases: confounded effects of up to two factors.
        bound_only: true if time-outs reduce the ratio to a bound.
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
