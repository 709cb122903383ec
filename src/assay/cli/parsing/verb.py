"""Verb: the parser of one verb."""

from __future__ import annotations

import argparse

from assay.cli.parsing.usage import Parser

Verbs = argparse._SubParsersAction  # argparse has no public type for it


def add_verb(
    verbs: Verbs[Parser],
    name: str,
    summary: str,
    usage: str,
    *,
    actions: str = "",
    examples: str = "",
) -> Parser:
    """Add the parser of a verb.

    Args:
        verbs: verbs of the command line.
        name: name of the verb.
        summary: purpose of the verb, in one line.
        usage: its usage line.
        actions: its actions, in lines; empty if it has none.
        examples: command lines with comments.
    """
    parser: Parser = verbs.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        usage=usage,
        allow_abbrev=False,
    )
    named = {"actions": actions, "examples": examples}
    parser.sections = {title: text for title, text in named.items() if text}
    return parser
