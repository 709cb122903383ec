"""Answer of a measuring verb, on standard output and in files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from assay.api.results.documents import result_document
from assay.bundle.document import write_json
from assay.bundle.files import replace_atomically, text_within
from assay.cli.show.result import print_result
from assay.errors import NotPossibleError
from assay.records import Kind
from assay.search.space.labels import label_conclusion
from assay.study.result import StudyResult


def deliver_answer(result: StudyResult, exports: Sequence[Path], *, json: bool) -> None:
    """Print the result, as lines or as JSON, and write the exported files.

    Raises:
        NotPossibleError: a file or standard output cannot be written.
    """
    result = named_result(result)
    try:
        _export(result, exports)
    finally:  # an unwritable file does not lose the printed answer
        _print(result, json=json)


def named_result(result: StudyResult) -> StudyResult:
    """Return the result with the configurations named as in the file of the study."""
    return replace(result, conclusion=label_conclusion(result.spec, result.conclusion))


def _print(result: StudyResult, *, json: bool) -> None:
    try:
        if json:
            write_json(result_document(result, result.samples), sys.stdout)
        else:
            print_result(result)
        sys.stdout.flush()
    except NotPossibleError as error:
        kept = f"The study is kept: `assay study show {result.study_id}`."
        raise NotPossibleError(error.cause, f"{error.remedy} {kept}") from error


def _export(result: StudyResult, exports: Sequence[Path]) -> None:
    for path in exports:
        try:
            with replace_atomically(path) as file, text_within(file) as text:
                _write(path, result, text)
        except NotPossibleError as error:
            raise NotPossibleError(
                f"The export {error.cause}",
                f"`assay study resume {result.study_id} --export FILE` writes it to another file.",
            ) from error


def _write(path: Path, result: StudyResult, target: TextIO) -> None:
    from assay.reporting import cells_text, front_text, text

    conclusion, spec = result.conclusion, result.spec
    sweep = spec.kind is Kind.SWEEP
    match path.suffix:
        case ".md" if sweep:
            target.write(cells_text.to_markdown(conclusion, spec))
        case ".csv" if sweep:
            target.write(cells_text.to_csv(conclusion, spec))
        case ".md" if spec.objectives:
            target.write(front_text.to_markdown(conclusion, spec))
        case ".csv" if spec.objectives:
            target.write(front_text.to_csv(conclusion, spec))
        case ".md":
            target.write(text.to_markdown(conclusion, spec))
        case ".csv":
            target.write(text.to_csv(conclusion, spec))
        case _:
            write_json(result_document(result, result.samples), target)
