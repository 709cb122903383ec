"""Command line of ``assay report`` as a request."""

from __future__ import annotations

from pathlib import Path

from assay.cli.files.output_file import demand_writable
from assay.cli.parsing.parser import Parsed
from assay.errors import InvalidInputError
from assay.requests.stored_study import ReportRequest

SUFFIXES = ("", ".html", ".htm", ".svg", ".png")


def report_request(parsed: Parsed) -> ReportRequest:
    """Return the request of a command line.

    Raises:
        InvalidInputError: an unusable file, or two documents on standard output.
    """
    arguments = parsed.arguments
    if arguments.output in ("-", "/dev/stdout"):
        if arguments.json:
            raise InvalidInputError(
                "The page and --json cannot both be on standard output.", "Name a file with -o."
            )
        return ReportRequest(study=arguments.study, path=None)
    _demand_usable(Path(arguments.output))
    return ReportRequest(study=arguments.study, path=arguments.output)


def _demand_usable(path: Path) -> None:
    """Raise on a path that no report can have.

    Raises:
        InvalidInputError: a folder, an unknown suffix, or a missing parent folder.
    """
    if path.is_dir():
        raise InvalidInputError(
            f"-o {path}: that is a folder.", f"Name a file: -o {path / 'report.html'}"
        )
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInputError(
            f"-o {path}: a report is a page of HTML, or its main picture as SVG or PNG, not a file "
            f"of the kind {path.suffix}.",
            f"Write -o {path.with_suffix('.html')}, .svg or .png",
        )
    demand_writable("-o", path)
