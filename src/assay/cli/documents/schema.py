"""Type of the document of ``assay schema``."""

from __future__ import annotations

from assay.records.codec import SCHEMA, Record


class SchemaAnswer(Record, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Answer of ``assay schema`` without a name.

    Attributes:
        schemas: command or file in which each document occurs, by the name of the document.
    """

    schemas: dict[str, str]
