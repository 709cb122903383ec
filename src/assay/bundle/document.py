"""All of a study as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.bundle.source import Source
from assay.bundle.streams import stream_of
from assay.records import Sample, StudySpec, to_builtins
from assay.search.left_out import block_of, left_out_blocks


def sample_documents(spec: StudySpec, samples: Sequence[Sample]) -> Iterator[dict[str, Any]]:
    """The samples of one stratum, each with ``left_out``: whether it is in no figure."""
    out = left_out_blocks(spec, samples)
    for sample in samples:
        yield {**to_builtins(sample), "left_out": block_of(sample) in out}


def study_document(source: Source, *, outputs: bool = True) -> dict[str, Any]:
    """What ``assay study show --json`` has, and plans and outputs of each stratum.

    Names are left as they are: this is for the study's own user.
    """
    of_newest = source.strata[-1].conclusion if source.strata else None
    record = msgspec.structs.replace(source.record, conclusion=of_newest)
    document: dict[str, Any] = {"study": record.id, **to_builtins(record)}
    document["samples"] = [
        {"stratum": one.stratum.number, **sample}
        for one in source.strata
        for sample in sample_documents(record.spec, one.samples)
    ]
    document["plans"] = [
        {"stratum": one.stratum.number, **to_builtins(plan)}
        for one in source.strata
        for plan in one.plans
    ]
    document["conclusions"] = [
        {"stratum": one.stratum.number, **to_builtins(one.conclusion)}
        for one in source.strata
        if one.conclusion is not None
    ]
    if outputs:
        document["outputs"] = [
            {
                "stratum": one.stratum.number,
                "sample": number,
                "streams": [to_builtins(stream_of(output)) for output in kept],
            }
            for one in source.strata
            for number, kept in enumerate(one.outputs(), start=1)
            if kept
        ]
    return document
