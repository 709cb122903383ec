"""Types of the documents of ``assay case``."""

from __future__ import annotations

from assay.records import Claim
from assay.records.codec import SCHEMA, Record
from assay.workloads.kernels import Kernel
from assay.workloads.published import PublishedFigure
from assay.workloads.roofs import Roofs


class CaseLine(Record, frozen=True, kw_only=True):
    """One case of ``assay case list``.

    Attributes:
        name: name of the case.
        title: description in one phrase.
        variants: names of its variants.
    """

    name: str
    title: str
    variants: tuple[str, ...]


class CaseListAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay case list``.

    Attributes:
        cases: every case.
    """

    cases: tuple[CaseLine, ...]


class CaseShowAnswer(Kernel, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay case show``.

    Attributes:
        kernel: name of the case.
        program: path of the program that contains the case.
        published: published figures of other machines.
    """

    program: str
    published: tuple[PublishedFigure, ...]


class LadderStep(Record, frozen=True, kw_only=True):
    """Result of one variant.

    Attributes:
        variant: name of the variant.
        description: description of the step.
        isa: required instruction set, as a level of the psABI or ``any``.
        library: library that does the work, with its version.
        parent: variant that it is compared with; absent for the first one.
        median_s: median time of one repetition, in seconds; absent, as the rates, ``roof_share``
            and ``figures``, without a successful launch.
        gflop_per_s: rate of additions and multiplications, in 10^9 per second.
        gb_per_s: rate of the bytes that the algorithm has to move, in 10^9 bytes per second.
        roof_share: share of the roof that the variant reaches; 1 is the roof.
        figures: measures of quality of the result beside its time, by name.
        claim: claim of the comparison with the parent.
    """

    variant: str
    description: str
    isa: str
    library: str = ""
    parent: str | None = None
    median_s: float | None = None
    gflop_per_s: float | None = None
    gb_per_s: float | None = None
    roof_share: float | None = None
    figures: dict[str, float] | None = None
    claim: Claim | None = None


class CaseRunAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay case run``.

    Attributes:
        study: identifier of the study.
        case: name of the case.
        parameters: values of the parameters of the work, by name.
        bytes: size of the data, in bytes.
        roofs: limits of this machine.
        published: published figures of other machines.
        notes: sentences that qualify the answer.
        steps: result of each variant, parents first.
    """

    study: str
    case: str
    parameters: dict[str, int]
    bytes: float
    roofs: Roofs
    published: tuple[PublishedFigure, ...]
    notes: tuple[str, ...]
    steps: tuple[LadderStep, ...]
