"""Command line of ``assay study`` as requests, one for each action."""

from __future__ import annotations

from pathlib import Path

from assay.api.options.study_options import parse_gate, parse_margin
from assay.cli.arguments.boot import boot_request
from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.study_actions import study_name
from assay.cli.arguments.study_groups import budget_of, disturbed_above_of, given_budget_of
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.records import Budget
from assay.records.comparison import OccasionVerdict
from assay.records.study import DEFAULT_MARGIN
from assay.requests.stored_study import (
    ConfirmRequest,
    ExportFile,
    ExportRequest,
    ResumeRequest,
    StudyCompareRequest,
    VerifyRequest,
)

STDOUT = "-"
FORMS = {
    "bundle": (".zip", ".assay"),
    "series": (".series.csv",),
    "csv": (".csv",),
    "json": (".json",),
    "openmetrics": (".om", ".prom", ".txt"),
}
"""Forms of an export, with the suffixes that ``-o`` recognises."""
FORM_NAMES = {
    "bundle": "a bundle",
    "series": "a table of reported values",
    "csv": "a table of samples",
    "json": "the whole study",
    "openmetrics": "OpenMetrics",
}
"""Forms of an export in words."""
GATE = tuple(map(str, OccasionVerdict))


def resume_request(parsed: Parsed) -> ResumeRequest:
    """Return the request of ``assay study resume``.

    Raises:
        InvalidInputError: an option is invalid.
    """
    budget = given_budget_of(parsed.arguments)
    return ResumeRequest(
        study=study_name(parsed),
        budget=None if budget == Budget() else budget,
        new_stratum=parsed.arguments.new_stratum,
        boot=boot_request(parsed.arguments),
    )


def confirm_request(parsed: Parsed) -> ConfirmRequest:
    """Return the request of ``assay study confirm``.

    Raises:
        InvalidInputError: an option is invalid.
    """
    arguments = parsed.arguments
    changes = bool(arguments.disturbed_above)
    return ConfirmRequest(
        study=study_name(parsed),
        budget=budget_of(arguments),
        point=arguments.point,
        changes_disturbed_above=changes,
        disturbed_above=disturbed_above_of(arguments) if changes else None,
    )


def compare_studies_request(parsed: Parsed) -> StudyCompareRequest:
    """Return the request of ``assay study compare``.

    Raises:
        InvalidInputError: a condition is missing, or an option is invalid.
    """
    arguments = parsed.arguments
    gate = parse_gate(arguments.fail_if, GATE)
    if not arguments.study or not arguments.file:
        raise InvalidInputError(
            "`assay study compare` takes two conditions.",
            "Name two studies, bundles or published summaries: assay study compare A B",
        )
    if arguments.json and arguments.markdown:
        raise InvalidInputError("--json and --markdown cannot be mixed.", "Leave out one of them.")
    margin = parse_margin(arguments.margin)
    return StudyCompareRequest(
        a=arguments.study,
        b=arguments.file,
        metric=arguments.metric,
        margin=DEFAULT_MARGIN if margin is None else margin,
        occasions=tuple(arguments.occasion),
        same_workload=arguments.same_workload,
        gate=gate,
    )


def prints_markdown(parsed: Parsed) -> bool:
    """Return whether the result is printed as Markdown."""
    markdown: bool = parsed.arguments.markdown
    return markdown


def verify_request(parsed: Parsed) -> VerifyRequest:
    """Return the request of ``assay study verify``.

    Raises:
        InvalidInputError: the file, or one of two options, is missing.
    """
    arguments = parsed.arguments
    name = study_name(parsed)
    if (arguments.signature is None) is not (arguments.signer is None):
        signature = arguments.signature or f"{Path(name).name}.sig"
        raise InvalidInputError(
            "--signature and --signer go together.",
            f"Write --signature {signature} --signer {arguments.signer or 'KEY.pub'}",
        )
    return VerifyRequest(path=name, signature=arguments.signature, signer=arguments.signer)


def export_request(parsed: Parsed) -> ExportRequest:
    """Return the request of ``assay study export``.

    Raises:
        InvalidInputError: no file is given, a suffix is unknown, or two exports share a file.
    """
    return ExportRequest(
        study=study_name(parsed),
        files=_export_files(parsed),
        outputs=not parsed.arguments.no_outputs,
    )


def export_options(parsed: Parsed) -> CommonOptions:
    """Return the common options of ``assay study export``: ``--json FILE`` prints no document."""
    options = common_options(parsed)
    return options if parsed.arguments.file is None else options._replace(json=False)


def _export_files(parsed: Parsed) -> tuple[ExportFile, ...]:
    arguments = parsed.arguments
    paths = {
        "bundle": arguments.bundle,
        "csv": arguments.csv,
        "json": arguments.file,
        "openmetrics": arguments.openmetrics,
    }
    if arguments.file is not None and not arguments.json:
        raise InvalidInputError(
            f"Unexpected argument {arguments.file!r} for `assay study export`.",
            f"Write its form: --bundle {arguments.file}, --csv, --json, --openmetrics, or -o, "
            "which uses the suffix.",
        )
    files = [ExportFile(form=form, path=path) for form, path in paths.items() if path is not None]
    if arguments.output is not None:
        files.append(ExportFile(form=_form_of(arguments.output), path=arguments.output))
    if not files and arguments.json:
        return (ExportFile(form="json", path=STDOUT),)
    if not files:
        raise InvalidInputError(
            "`assay study export` needs the form of the export.",
            "Write --bundle FILE.zip for a bundle that others can verify, --csv FILE or --json "
            "FILE for an analysis, --openmetrics FILE for Prometheus.",
        )
    places = [one.path for one in files]
    twice = next((path for path in places if places.count(path) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"Two exports share the file {twice}.", "Name a file for each.")
    return tuple(files)


def _form_of(path: str) -> str:
    for form, suffixes in FORMS.items():
        if path.endswith(suffixes):
            return form
    known = ", ".join(
        f"{' or '.join(suffixes)} ({FORM_NAMES[form]})" for form, suffixes in FORMS.items()
    )
    raise InvalidInputError(
        f"-o {path}: unknown suffix.",
        f"Known are {known}; or name the form: --bundle, --csv, --json or --openmetrics {path}",
    )
