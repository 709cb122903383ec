"""``assay schema``: JSON Schemas of all documents."""

from __future__ import annotations

import json

from assay.cli.arguments.common import common_options
from assay.cli.arguments.information import document_name
from assay.cli.documents.schema import SchemaAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.schemas import DOCUMENTS, schema
from assay.cli.show.json_output import print_json
from assay.records import to_builtins


def run(parsed: Parsed) -> int:
    """Run the verb."""
    name = document_name(parsed)
    if name is not None:
        print(json.dumps(schema(name), indent=2))
        return 0
    if common_options(parsed).json:
        summaries = {name: one.summary for name, one in DOCUMENTS.items()}
        print_json(to_builtins(SchemaAnswer(schemas=summaries)))
        return 0
    width = max(map(len, DOCUMENTS))
    for name, one in DOCUMENTS.items():
        print(f"{name:{width}}  {one.summary}")
    return 0
