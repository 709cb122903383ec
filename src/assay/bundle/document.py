"""Complete study as a JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

import msgspec

from assay.bundle.source import Source
from assay.bundle.streams import stream_of
from assay.bundle.survey import SampleSurvey
from assay.records import Sample, StudySpec, encode, to_builtins
from assay.records.codec import SCHEMA
from assay.search.history.excluded_blocks import BlockConditions, block_of, conditions_of


class Raw(str):
    """Text that is JSON already."""

    __slots__ = ()


def sample_documents(
    spec: StudySpec,
    samples: Iterable[Sample],
    conditions: BlockConditions | SampleSurvey | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the samples of one stratum with the state of their blocks.

    ``disturbed``: other processes used the machine. ``excluded``: the block is excluded from all
    figures.

    Args:
        spec: specification of the study.
        samples: samples in the order of launch.
        conditions: conditions of their blocks; ``None`` reads the samples twice.
    """
    found = conditions or conditions_of(spec, samples)
    out, disturbed = found.excluded, found.disturbed
    for sample in samples:
        block = block_of(sample)
        marks = {"excluded": block in out, "disturbed": block in disturbed}
        yield {**to_builtins(sample), **marks}


def study_document(source: Source, *, outputs: bool = True) -> dict[str, Any]:
    """Return the document of ``assay study show --json`` with plans and outputs of each stratum.

    Names are not replaced, because the document is for the user of the study. Samples and outputs
    are iterators, which read the store.
    """
    of_newest = source.strata[-1].conclusion if source.strata else None
    record = msgspec.structs.replace(source.record, conclusion=of_newest)
    document: dict[str, Any] = {"study": record.id, **to_builtins(record)}
    document["samples"] = _samples(source, source.surveys)
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
        document["outputs"] = _outputs(source)
    return document


def sample_lines(
    stratum: int, samples: Iterable[Sample], conditions: BlockConditions | SampleSurvey
) -> Iterator[Raw]:
    """Yield the documents of ``sample_documents`` with the number of their stratum, encoded.

    Args:
        stratum: number of the stratum.
        samples: its samples.
        conditions: conditions of their blocks.
    """
    out, disturbed = conditions.excluded, conditions.disturbed
    words = ("false", "true")
    for sample in samples:
        block = block_of(sample)
        marks = f'"excluded":{words[block in out]},"disturbed":{words[block in disturbed]}'
        yield Raw(f'{{"stratum":{stratum},{encode(sample)[1:-1].decode()},{marks}}}')


def _samples(source: Source, surveys: Iterable[SampleSurvey]) -> Iterator[Raw]:
    for stratum, survey in zip(source.strata, surveys, strict=True):
        yield from sample_lines(stratum.stratum.number, stratum.samples, survey)


def _outputs(source: Source) -> Iterator[dict[str, Any]]:
    for stratum in source.strata:
        for number, kept in enumerate(stratum.outputs(), start=1):
            if kept:
                yield {
                    "stratum": stratum.stratum.number,
                    "sample": number,
                    "streams": [to_builtins(stream_of(output)) for output in kept],
                }


def write_json(document: Mapping[str, Any], target: TextIO) -> None:
    """Write a document in one line; values that are iterators become arrays, an item at a time.

    Args:
        document: plain values by key.
        target: text file.
    """
    target.writelines(json_pieces(document))
    target.write("\n")


def json_pieces(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a document in pieces; values that are iterators become arrays.

    Args:
        document: plain values by key.
    """
    yield "{"
    for number, (key, value) in enumerate({"schema": SCHEMA, **document}.items()):
        yield f"{', ' if number else ''}{json.dumps(key)}: "
        if isinstance(value, Iterator):
            yield from _array_pieces(value)
        else:
            yield json.dumps(value, allow_nan=False)
    yield "}"


def _array_pieces(items: Iterator[Any]) -> Iterator[str]:
    yield "["
    for number, item in enumerate(items):
        document = item if isinstance(item, Raw) else json.dumps(item, allow_nan=False)
        yield f", {document}" if number else document
    yield "]"
