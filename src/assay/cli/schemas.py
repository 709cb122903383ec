"""JSON Schemas of all documents that assay reads and writes, generated from their types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from assay.api.files import sweep_file
from assay.bundle.layout import Manifest
from assay.cli import answers
from assay.cli.documents import (
    case,
    doctor,
    machine,
    noise,
    partition,
    report,
    settings,
    study,
    tier,
)
from assay.cli.documents.schema import SchemaAnswer
from assay.errors import InvalidInputError, nearest
from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory
from assay.records import Conclusion, Configuration, Plan, RunFacts, Sample, StudySpec
from assay.records.comparison import OccasionComparison
from assay.records.overhead import Overhead

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Document(NamedTuple):
    """A kind of document.

    Attributes:
        kind: type that defines the document.
        summary: where the document occurs.
    """

    kind: type
    summary: str


DOCUMENTS = {
    "bundle-manifest": Document(Manifest, "manifest.json of a bundle"),
    "calibrate": Document(answers.CalibrateAnswer, "assay study calibrate --json"),
    "case-list": Document(case.CaseListAnswer, "assay case list --json"),
    "case-run": Document(case.CaseRunAnswer, "assay case run --json"),
    "case-show": Document(case.CaseShowAnswer, "assay case show --json"),
    "compare": Document(answers.CompareAnswer, "assay compare --json, assay study confirm --json"),
    "comparison": Document(OccasionComparison, "assay study compare --json"),
    "conclusion": Document(Conclusion, "conclusion.json of a bundle"),
    "doctor": Document(doctor.DoctorAnswer, "assay doctor --json"),
    "facts": Document(RunFacts, "record of assay-exec on one launch"),
    "inventory": Document(Inventory, "key inventory of assay machine show --json"),
    "machine": Document(Machine, "key machine of assay machine show --json"),
    "machine-apply": Document(machine.MachineApplyAnswer, "assay machine apply --json"),
    "machine-check": Document(answers.MachineCheckAnswer, "assay machine check --json"),
    "machine-diff": Document(machine.MachineDiffAnswer, "assay machine diff --json"),
    "machine-noise": Document(noise.MachineNoiseAnswer, "assay machine noise --json"),
    "machine-restore": Document(machine.MachineRestoreAnswer, "assay machine restore --json"),
    "machine-show": Document(answers.MachineShowAnswer, "assay machine show --json"),
    "machine-snapshot": Document(machine.MachineSnapshotAnswer, "assay machine snapshot --json"),
    "measure": Document(answers.MeasureAnswer, "assay measure --json"),
    "overhead": Document(Overhead, "assay study calibrate --overhead --json"),
    "partition-create": Document(partition.PartitionCreateAnswer, "assay partition create --json"),
    "partition-delete": Document(partition.PartitionDeleteAnswer, "assay partition delete --json"),
    "partition-list": Document(partition.PartitionListAnswer, "assay partition list --json"),
    "partition-start": Document(partition.PartitionStartAnswer, "assay partition start --json"),
    "paused": Document(answers.PausedAnswer, "any study that waits for another boot, with --json"),
    "plan": Document(Plan, "line of plans.jsonl in a bundle"),
    "report": Document(report.ReportAnswer, "assay report --json"),
    "sample": Document(Sample, "assay run --record FILE"),
    "schema": Document(SchemaAnswer, "assay schema --json"),
    "settings-list": Document(settings.SettingsListAnswer, "assay settings list --json"),
    "settings-show": Document(settings.SettingsShowAnswer, "assay settings show --json"),
    "study-compact": Document(study.StudyCompactAnswer, "assay study compact --json"),
    "study-delete": Document(study.StudyDeleteAnswer, "assay study delete --json"),
    "study-export": Document(study.StudyExportAnswer, "assay study export --json"),
    "study-label": Document(study.StudyLabelAnswer, "assay study label --json"),
    "study-list": Document(answers.StudyListAnswer, "assay study list --json"),
    "study-prune": Document(study.StudyPruneAnswer, "assay study prune --json"),
    "study-sample": Document(
        answers.StudySample, "key samples of assay measure --json and assay study show --json"
    ),
    "study-show": Document(answers.StudyShowAnswer, "assay study show --json"),
    "study-specification": Document(StudySpec, "key spec of assay study show --json"),
    "study-verify": Document(study.StudyVerifyAnswer, "assay study verify --json"),
    "sweep": Document(answers.SweepAnswer, "assay sweep --json"),
    "sweep-file": Document(sweep_file.SweepTable, "file of assay sweep (TOML)"),
    "tier-bench": Document(tier.TierBenchAnswer, "assay tier bench --json"),
    "tier-doctor": Document(tier.TierDoctorAnswer, "assay tier doctor --json"),
    "tier-predict": Document(tier.TierPredictAnswer, "assay tier predict --json"),
    "tier-top": Document(tier.TierTopAnswer, "assay tier top --json"),
    "tune": Document(answers.TuneAnswer, "assay tune --json"),
}
"""Every kind of document by name."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of document.

    Raises:
        InvalidInputError: the name is unknown.
    """
    if name not in DOCUMENTS:
        near = nearest(name, tuple(DOCUMENTS))
        raise InvalidInputError(
            f"There is no schema {name!r}.",
            f"Did you mean {near}?" if near else "`assay schema` lists all names.",
        )
    if name == "sweep-file":
        return sweep_file.json_schema()
    kind = DOCUMENTS[name].kind
    found = msgspec.json.schema(kind, schema_hook=_schema_hook)
    _describe(found.get("$defs", {}), kind)
    return {"$schema": DIALECT, "title": name, "description": DOCUMENTS[name].summary, **found}


def _schema_hook(kind: type) -> dict[str, Any]:
    if kind is Configuration:
        values = {"type": ["string", "number", "boolean"]}
        return {
            "type": "object",
            "description": "Values by setting.",
            "additionalProperties": values,
        }
    raise NotImplementedError(f"no JSON Schema for {kind.__name__}")


# --- descriptions -----------------------------------------------------------------------------

_TAGS = {"schema": "version of the document", "kind": "name of the type of this object"}
"""Descriptions of the keys that msgspec adds to a structure (``tag_field``)."""


def _describe(definitions: dict[str, Any], kind: type) -> None:
    """Add the descriptions of doc comments to every property."""
    for struct in _structs(kind):
        definition = definitions.get(struct.__name__)
        if definition is None:
            continue
        definition["description"] = _first_paragraph(struct)
        known = attributes(struct)
        for key, value in definition.get("properties", {}).items():
            if key in known:
                value["description"] = known[key]
        tag = struct.__struct_config__.tag_field  # type: ignore[attr-defined]
        if tag is not None:
            definition["properties"][tag]["description"] = _TAGS[tag]


def _structs(kind: type) -> Iterator[type]:
    """Yield every structure that a type refers to."""
    found: dict[str, type] = {}

    def visit(one: msgspec.inspect.Type) -> None:
        match one:
            case msgspec.inspect.StructType():
                if one.cls.__name__ not in found:
                    found[one.cls.__name__] = one.cls
                    for field in one.fields:
                        visit(field.type)
            case msgspec.inspect.UnionType():
                for member in one.types:
                    visit(member)
            case msgspec.inspect.DictType():
                visit(one.value_type)
            case msgspec.inspect.TupleType():
                for member in one.item_types:
                    visit(member)
            case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
                visit(one.item_type)
            case _:
                pass

    visit(msgspec.inspect.type_info(kind))
    yield from found.values()


def _first_paragraph(struct: type) -> str:
    return _joined(inspect.cleandoc(struct.__doc__ or "").split("\n\n")[0])


def _joined(text: str) -> str:
    """Return a text in one line, with inline code in single backticks."""
    return " ".join(text.split()).replace("``", "`")


def attributes(struct: type) -> dict[str, str]:
    """Return the description of each field, from the section ``Attributes`` of the doc comments.

    Fields of base classes are included.
    """
    found: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        text = inspect.cleandoc(base.__doc__ or "")
        section = re.search(r"^Attributes:\n((?:[ ]{4}.*\n?|\n)+)", text, re.MULTILINE)
        if section is None:
            continue
        for entry in re.split(r"\n(?=[ ]{4}\S)", section[1].rstrip()):
            names, _, meaning = entry.strip().partition(":")
            for name in names.split(","):
                found[name.strip()] = _joined(meaning)
    return found
