"""Complete study as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.bundle.source import Source
from assay.bundle.streams import stream_of
from assay.records import Sample, StudySpec, to_builtins
from assay.search.history.excluded_blocks import block_of, disturbed_blocks, excluded_blocks_of


def sample_documents(spec: StudySpec, samples: Sequence[Sample]) -> Iterator[dict[str, Any]]:
    """Yield the samples of one stratum with the state of their blocks.

    ``disturbed``: other processes used the machine. ``excluded``: the block is excluded from all
    figures.
    """
    out, disturbed = (find(spec, samples) for find in (excluded_blocks_of, disturbed_blocks))
    for sample in samples:
        block = block_of(sample)
        marks = {"excluded": block in out, "disturbed": block in disturbed}
        yield {**to_builtins(sample), **marks}


def study_document(source: Source, *, outputs: bool = True) -> dict[str, Any]:
    """Return the document of ``assay study show --json`` with plans and outputs of each stratum.

    Names are not replaced, because the document is for the user of the study.
    """
    of_newest = source.strata[-1].conclusion if source.strata else None
    record = msgspec.structs.replace(source.record, conclusion=of_newest)
    document: dict[str, Any] = {"study": record.id, **to_builtins(record)}
    document["samples"] = [
        {"stratum": stratum.stratum.number, **sample}
        for stratum in source.strata
        for sample in sample_documents(record.spec, stratum.samples)
    ]
    document["plans"] = [
        {"stratum": stratum.stratum.number, **to_builtins(plan)}
        for stratum in source.strata
        for plan in stratum.plans
    ]
    document["conclusions"] = [
        {"stratum": stratum.stratum.number, **to_builtins(stratum.conclusion)}
        for stratum in source.strata
        if stratum.conclusion is not None
    ]
    if outputs:
        document["outputs"] = [
            {
                "stratum": stratum.stratum.number,
                "sample": number,
                "streams": [to_builtins(stream_of(output)) for output in kept],
            }
            for stratum in source.strata
            for number, kept in enumerate(stratum.outputs(), start=1)
            if kept
        ]
    return document
