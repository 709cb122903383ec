"""Grammar: the parser of a command line, with every verb."""

from __future__ import annotations

import argparse

from assay import __version__
from assay.cli.parsing.machine_verbs import (
    add_case,
    add_completion,
    add_doctor,
    add_machine,
    add_partition,
    add_schema,
    add_tier,
)
from assay.cli.parsing.measuring_verbs import add_compare, add_measure, add_run, add_sweep, add_tune
from assay.cli.parsing.study_verbs import add_report, add_settings, add_study
from assay.cli.parsing.usage import HelpAction, Parser
from assay.cli.parsing.verb import Verbs

DESCRIPTION = "Finds the configuration in which a program runs best, and proves the gain."
EPILOG = """\
examples:
  assay tune -- python3 simulate.py            find the best settings
  assay tune threads=1,2,4 malloc=glibc,jemalloc --budget 5m -- ./app
  assay compare 'xz -T1 -k f' 'xz -T2 -k f'    which of two commands is faster
  assay run --from last -- ./app               as the last study recommends
"""

VERBS = {
    "tune": add_tune,
    "run": add_run,
    "measure": add_measure,
    "compare": add_compare,
    "sweep": add_sweep,
    "settings": add_settings,
    "study": add_study,
    "report": add_report,
    "machine": add_machine,
    "partition": add_partition,
    "case": add_case,
    "tier": add_tier,
    "doctor": add_doctor,
    "schema": add_schema,
    "completion": add_completion,
}
"""Functions that add the parser of each verb, in the order of ``assay --help``."""

TOPICS = {
    "find and prove": ("tune", "compare", "sweep", "measure", "run"),
    "studies": ("study", "report", "settings"),
    "this machine": ("doctor", "machine", "partition", "tier"),
    "more": ("case", "schema", "completion"),
}
"""Verbs by topic, as ``assay --help`` lists them."""


def build(verb: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all verbs, or of one alone, which takes a fifth of the time.

    Args:
        verb: one of ``VERBS``; all of them if absent.
    """
    parser = Parser(
        prog="assay",
        usage="assay VERB [options] [-- COMMAND [ARG ...]]",
        description=DESCRIPTION,
    )
    group = parser.add_argument_group("options")
    group.add_argument("-h", "--help", action=HelpAction)
    group.add_argument(
        "--version", action="version", version=f"assay {__version__}", help="print the version"
    )
    # Without prog, argparse would format a usage line for it.
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, prog=parser.prog)
    for name, add in VERBS.items():
        if verb in (None, name):
            add(verbs)
    if verb is None:
        title, _, examples = EPILOG.partition(":\n")
        parser.sections = {**_topics(verbs), title: examples}
        parser.sections[""] = (
            "`assay VERB --help` shows the most used options and examples of a verb."
        )
    return parser


def _summary(parser: argparse.ArgumentParser) -> str:
    text = parser.description or ""
    return text[:1].lower() + text[1:].rstrip(".")


def _topics(verbs: Verbs[Parser]) -> dict[str, str]:
    width = max(map(len, VERBS))
    return {
        topic: "\n".join(f"  {name:{width}}  {_summary(verbs.choices[name])}" for name in names)
        for topic, names in TOPICS.items()
    }
