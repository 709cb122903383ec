"""Verbs of finished work: settings, study and report."""

from __future__ import annotations

import argparse

from assay.cli.parsing.options import (
    DEFAULT_OBSERVATIONS,
    Group,
    add_boot_options,
    add_budget_options,
    add_common_options,
    add_disturbance_option,
    add_export_option,
    add_observe_option,
    add_seed_option,
)
from assay.cli.parsing.usage import GivenOnce, Parser
from assay.cli.parsing.verb import Verbs, add_verb


def add_settings(verbs: Verbs[Parser]) -> None:
    """Add ``assay settings``."""
    parser = add_verb(
        verbs,
        "settings",
        "list the settings, and show their values and effects here",
        "assay settings [list | show NAME] [options]",
        actions="""\
  list  list every setting and whether it is available here (default)
  show  show the values, the requirements and the source of one setting
""",
        examples="""\
  assay settings list
  assay settings show malloc
""",
    )
    parser.add_argument(
        "action",
        choices=("list", "show"),
        nargs="?",
        default="list",
        metavar="ACTION",
        help="one of the actions below (default: list)",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of a setting, for show")
    add_common_options(parser)


def add_study(verbs: Verbs[Parser]) -> None:
    """Add ``assay study``."""
    parser = add_verb(
        verbs,
        "study",
        "list, show, continue, compare, export and verify studies",
        "assay study ACTION [STUDY] [options]",
        actions="""\
  list       list the studies of the store
  show       show the result and the evidence of a study
  compare    compare two studies that were measured apart
  resume     continue a study, also after an interruption
  confirm    compare the recommendation with the default, here and now
  export     write a study as a bundle, CSV, JSON or OpenMetrics
  verify     check the signature, data and verdicts of a bundle
  calibrate  measure the noise of this machine with two identical arms
  label      assign a label to a study, for the filter of list
  delete     delete a study
  prune      delete old studies, or the parts of them that no verdict needs
  compact    pack the documents of an older assay, and return free space
""",
        examples="""\
  assay study show last
  assay study resume last --budget 10m
  assay study export last --bundle study.zip
""",
    )
    parser.add_argument(
        "action",
        choices=(
            *("list", "show", "compare", "resume", "confirm", "export", "verify", "calibrate"),
            *("label", "delete", "prune", "compact"),
        ),
        metavar="ACTION",
        help="one of the actions below",
    )
    parser.add_argument(
        "study",
        nargs="?",
        metavar="STUDY",
        help="id of a study, its beginning, or last; for verify the file of a bundle",
    )
    # The second condition of compare, the file of export --json FILE, the label of label.
    parser.add_argument("file", nargs="?", help=argparse.SUPPRESS)
    _add_list_options(parser.add_argument_group("list"))
    parser.add_argument_group("label").add_argument(
        "--remove", action="store_true", help="remove the label instead"
    )
    _add_prune_options(parser.add_argument_group("prune", "It changes nothing without --yes."))
    parser.add_argument_group("compact").add_argument(
        "--no-vacuum",
        action="store_true",
        help="leave the free space in the file, for new samples (default: return it to the file"
        " system)",
    )
    group = parser.add_argument_group("resume, confirm, calibrate")
    add_budget_options(group, "resume: the remaining budget; calibrate: 3m")
    group = parser.add_argument_group("resume")
    group.add_argument(
        "--new-stratum",
        action="store_true",
        help="start a new stratum for a changed program or machine (default: refuse to mix them)",
    )
    add_export_option(group)
    add_boot_options(group, verify=False)
    group = parser.add_argument_group("confirm, calibrate")
    add_disturbance_option(group)
    group = parser.add_argument_group("confirm")
    group.add_argument(
        "--point",
        metavar="N",
        help="point of the Pareto front of a study with several objectives (default: best in the"
        " first objective)",
    )
    group = parser.add_argument_group(
        "calibrate", "Without a command assay runs a load of its own."
    )
    group.add_argument(
        "--overhead",
        action="store_true",
        help="measure the cost of each observation instead (takes no --runs)",
    )
    add_seed_option(group, None)
    add_observe_option(group, DEFAULT_OBSERVATIONS)
    _add_compare_options(
        parser.add_argument_group(
            "compare",
            "A and B are studies, files of bundles (both with :STRATUM or @ARM), lines of tables"
            " of published figures (runs.csv:2), or figures (n=30,mean=299.4,sd=3.38).",
        )
    )
    _add_export_options(
        parser.add_argument_group(
            "export", "Several may be combined. The file - is standard output."
        )
    )
    group = parser.add_argument_group("verify")
    group.add_argument(
        "--signature", metavar="FILE.sig", help="signature written by `ssh-keygen -Y sign`"
    )
    group.add_argument(
        "--signer",
        metavar="KEY.pub|NAME=FILE",
        help="public key of the signer, or its name in a file of allowed signers",
    )
    add_common_options(parser)
    parser.most_used = ("--budget", "--output", "--json")


def _add_list_options(group: Group) -> None:
    group.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="LABEL",
        help="studies with this label only; repeatable: studies with all of the labels",
    )
    helps_by_option = {
        ("--limit", "N"): "the newest N studies only (default: all)",
        ("--command", "TEXT"): "studies whose command contains this text only",
        ("--since", "DATE"): "studies begun on or after this day only: 2026-11-28,"
        " '2026-11-28 14:30' or an age such as 7d (units: d, h, m, s)",
        ("--until", "DATE"): "studies begun on or before this day only (as --since)",
        ("--machine", "NAME"): "studies on this machine only: beginning of its fingerprint, or a"
        " part of the name of its processor",
    }
    for (option, metavar), text in helps_by_option.items():
        group.add_argument(option, action=GivenOnce, metavar=metavar, help=text)


def _add_prune_options(group: Group) -> None:
    group.add_argument(
        "--older-than", metavar="AGE", help="studies begun longer ago than this, such as 90d"
    )
    group.add_argument("--keep-last", metavar="N", help="all studies but the newest N")
    group.add_argument(
        "--samples",
        choices=("thin", "remove"),
        help="keep the studies and their verdicts. thin: remove outputs, and parts of samples that"
        " no verdict needs; remove: also samples without a verdict (default: delete the studies)",
    )
    group.add_argument("--yes", action="store_true", help="do it (default: only show it)")


def _add_compare_options(group: Group) -> None:
    group.add_argument("--metric", metavar="NAME", help="metric to compare (default: objective)")
    group.add_argument(
        "--margin",
        metavar="SHARE",
        help="margin of equivalence: smaller differences count as none (default: 1%%)",
    )
    group.add_argument(
        "--occasion",
        action="append",
        default=[],
        metavar="STUDY|FILE",
        help="use this study as well to estimate the variance between occasions; repeatable"
        " (default: all comparable studies of the store)",
    )
    group.add_argument(
        "--same-workload",
        action="store_true",
        help="compare two commands that differ: they do the same work",
    )
    group.add_argument(
        "--fail-if",
        metavar="VERDICT,...",
        help="exit with status 1 on any of these: slower, faster (by more than the margin), same,"
        " unclear, unproven",
    )
    group.add_argument("--markdown", action="store_true", help="print the result as Markdown")


def _add_export_options(group: Group) -> None:
    group.add_argument(
        "--bundle",
        metavar="FILE.zip",
        help="bundle that others can verify, without the names of host and user; it contains the"
        " names of other processes that disturbed launches",
    )
    group.add_argument("--csv", metavar="FILE", help="table with a row for each sample")
    group.add_argument(
        "--openmetrics", metavar="FILE", help="metrics for Prometheus and compatible systems"
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="format by the suffix: .zip, .csv, .series.csv (values that launches reported), .json"
        " (the whole study; also --json FILE), .om",
    )
    group.add_argument(
        "--no-outputs", action="store_true", help="leave out the output of the program"
    )


def add_report(verbs: Verbs[Parser]) -> None:
    """Add ``assay report``."""
    parser = add_verb(
        verbs,
        "report",
        "write one self-contained HTML page of a study",
        "assay report STUDY [options]",
        examples="""\
  assay report last                       write report.html
  assay report last -o result.svg         write the main picture
""",
    )
    parser.add_argument("study", metavar="STUDY", help="id of a study, its beginning, or last")
    parser.add_argument_group("output").add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="HTML page, or with the suffix .svg or .png its main picture; - is standard output"
        " (default: report.html)",
    )
    add_common_options(parser)
