"""Evidence of many samples: columns, tallies, and the number of passes over the pieces."""

from dataclasses import replace

import report_studies as studies

from assay.records import Evidence
from assay.records.sample import OUTPUT
from assay.reporting.evidence import tally
from assay.reporting.evidence_columns import EvidenceColumns
from assay.reporting.html import render

MAX_PASSES = 6
"""Maximum number of passes over the evidence of a launch: columns, tests for disturbed blocks, and
the document of the sample."""


def samples_with(*evidence):
    sample = studies.single().samples[0]
    return [studies._with(sample, evidence=pieces) for pieces in evidence]


def load(value, note=None):
    return Evidence(kind="load", value=value, unit="s", note=note)


def test_columns_have_places_and_values_of_each_kind():
    speed = Evidence(kind="speed", value=3.0)
    columns = EvidenceColumns(samples_with((load(1.0), speed), (), (load(None), load(2.0))))
    assert list(columns.readings("load")) == [(0, 1.0), (2, 2.0)]
    assert list(columns.readings("load", "ms")) == []
    assert columns.places({"speed"}) == [0]
    assert columns.places({"load", "speed"}) == [0, 2]


def test_tally_of_chosen_samples_omits_the_others():
    columns = EvidenceColumns(
        samples_with((load(1.0, "first"),), (load(5.0),), (load(3.0, "third"),), (load(None),))
    )
    (whole,) = tally(columns)
    assert (whole.samples, whole.median, whole.highest, whole.note) == (4, 3.0, 5.0, "first")
    (some,) = tally(columns, [False, False, True, True])
    assert (some.samples, some.median, some.highest, some.note) == (2, 3.0, 3.0, "third")
    assert tally(columns, [False] * 4) == ()


def test_tally_counts_samples_with_several_pieces_once():
    columns = EvidenceColumns(samples_with((load(1.0), load(5.0), load(None)), (load(3.0),), ()))
    (whole,) = tally(columns)
    assert (whole.samples, whole.median, whole.highest) == (2, 3.0, 5.0)
    (some,) = tally(columns, [True, False, True])
    assert (some.samples, some.median) == (1, 3.0)


def test_tally_omits_digests_of_outputs():
    digest = Evidence(kind=OUTPUT, note="0123")
    assert tally(EvidenceColumns(samples_with((digest,)))) == ()


class CountedPieces(tuple):
    """Evidence of a launch that counts the passes over it."""

    passes = 0

    def __iter__(self):
        type(self).passes += 1
        return super().__iter__()


def test_page_passes_few_times_over_the_evidence():
    report = studies.compare(blocks=20)
    kinds = ("steal", "foreign_load", "throttled", "speed", "remaining_processes", "load")
    pieces = tuple(Evidence(kind=kind, value=0.01, unit="s") for kind in kinds)
    samples = tuple(studies._with(s, evidence=CountedPieces(pieces)) for s in report.samples)
    CountedPieces.passes = 0
    render(replace(report, samples=samples))
    assert 0 < CountedPieces.passes <= MAX_PASSES * len(samples)
