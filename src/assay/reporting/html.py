"""Html: the self-contained page.

The page makes no requests: style, scripts, pictures and samples are embedded, and a content
security policy allows exactly the two embedded scripts and the style sheet. Without scripts it
shows static pictures and the complete table.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import NotPossibleError
from assay.records import Sample, encode
from assay.records.codec import SCHEMA
from assay.reporting.arms import ArmRow, arm_rows
from assay.reporting.chapters import body
from assay.reporting.convergence import STAGE_NAMES
from assay.reporting.drawn import DrawnLaunches
from assay.reporting.figures import Figures, figures
from assay.reporting.formatting import label_of, shorten
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, ascii_json, data_block, el, join, json_block, text
from assay.reporting.parts import method
from assay.reporting.parts.table import further_cells
from assay.reporting.pictures.theme import page_style
from assay.reporting.sample_words import page_in_own_words, words_of
from assay.reporting.scale import Scale, scale_for
from assay.reporting.trials import State, trials
from assay.untrusted import clean

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")

ECHARTS = "6.0.0"
"""Version of the vendored library; a test compares it with the file."""

_TITLE_CHARACTERS = 60


def render(report: ReportInput) -> str:
    """Return the page of a study as an HTML document.

    Raises:
        NotPossibleError: a file of the report is missing from this installation.
    """
    shown = trials(report)
    rows = arm_rows(report, shown)
    pictures = figures(report, shown, rows)
    scale = scale_for([value for row in rows for value in row.values], report.metric.unit)
    style = page_style() + _asset("assets/report.css")
    library, script = _asset("vendor/echarts.min.js"), _asset("assets/report.js")
    slots = {
        "policy": _policy(style, library, script),
        "title": text(_title(report)),
        "generator": text(f"assay {report.assay_version}"),
        "style": Html(style),
        "header": _header(report),
        "body": page_in_own_words(report, body(report, rows, pictures, scale)),
        "data": join(
            data_block("assay-figures", _figure_data(report, rows, pictures, scale)),
            json_block("assay-samples", _samples(report, pictures.drawn)),
        ),
        "library": Html(library),
        "script": Html(script),
        "footer": _footer(report),
    }
    return _SLOT.sub(lambda match: slots[match[1]], _asset("assets/page.html"))


def render_page(report: ReportInput) -> bytes:
    """Return the page in UTF-8.

    Raises:
        NotPossibleError: a file of the report is missing from this installation.
    """
    return render(report).encode("utf-8")


def write_document(document: bytes, path: Path) -> None:
    """Write a document of a report to a file atomically.

    Args:
        document: contents.
        path: path of the file, or of a link to it.

    Raises:
        NotPossibleError: the file cannot be written; an existing file is unchanged.
    """
    path = path.resolve()  # keep a symbolic link
    if path.exists() and not path.is_file():
        # A rename would replace a device or a directory.
        raise NotPossibleError(f"{path} is not a regular file.", "Specify another with -o FILE.")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(document)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _unwritable(path: Path, error: OSError) -> NotPossibleError:
    return NotPossibleError(
        f"The report cannot be written to {path}: {error.strerror or error}.",
        "Specify another file with -o, in a writable directory with free space.",
    )


def _asset(name: str) -> str:
    try:
        return (resources.files("assay.reporting") / name).read_text(encoding="utf-8")
    except OSError as error:
        raise NotPossibleError(
            f"A file of the report is missing from this installation: {name}.",
            "Reinstall assay.",
        ) from error


def _policy(style: str, *scripts: str) -> Html:
    """Return a policy that allows only the embedded scripts and style, identified by hashes."""
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return Html(
        f"default-src 'none'; script-src {allowed}; style-src 'sha256-{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _title(report: ReportInput) -> str:
    words = shorten(method.command(report.spec), _TITLE_CHARACTERS)
    return f"assay {report.spec.kind.value}: {words}"


def _header(report: ReportInput) -> Html:
    when = method.utc(report.created_at)
    return join(
        el(
            "p",
            el("strong", "assay"),
            f" {report.spec.kind.value} \u00b7 study ",
            el("bdi", clean(report.study_id)),
            f" \u00b7 {when}",
            class_="meta",
        ),
        el("div", method.subject(report.spec), class_="what"),
    )


def _footer(report: ReportInput) -> Html:
    return el(
        "p",
        f"Created by assay {clean(report.assay_version)}. This file needs no network. Interactive "
        f"figures: Apache ECharts {ECHARTS}, Apache License 2.0, \u00a9 The Apache Software "
        "Foundation.",
    )


def _samples(report: ReportInput, drawn: DrawnLaunches) -> Iterator[bytes]:
    """Yield the parts of a list of the drawn samples, each with a flag for left-out blocks."""
    shown: Iterable[Sample] = report.samples
    if drawn.numbers is not None:
        ordered = enumerate(report.compared_samples, start=1)
        shown = (sample for number, sample in ordered if number in drawn)
    yield b"["
    for place, sample in enumerate(shown):
        document = ascii_json(encode(sample)).removesuffix(b"}")
        left_out = b"false" if report.counts(sample) else b"true"
        yield b'%b%b,"left_out":%b}' % (b"," if place else b"", document, left_out)
    yield b"]"


def _figure_data(
    report: ReportInput, rows: Sequence[ArmRow], pictures: Figures, scale: Scale
) -> dict[str, Any]:
    """Return the data for the scripts of the page."""
    return {
        "schema": SCHEMA,
        "study": report.study_id,
        "kind": report.spec.kind.value,
        "metric": {
            "name": report.metric.name,
            "label": label_of(report.metric),
            "unit": report.metric.unit,
            "goal": report.metric.goal.value,
        },
        "scale": msgspec.to_builtins(scale),
        "script": report.script,
        "stages": STAGE_NAMES,
        "noun": words_of(report).noun,
        "launches": _finite(_launches(pictures)),
        "figures": _finite(_without_launches(pictures)),
        "rows": [_row_data(row) for row in rows],
        "further": further_cells(report, rows, scale),
    }


def _launches(pictures: Figures) -> dict[str, list[Any]]:
    """Return the data of each launch once, in columns."""
    if pictures.convergence is not None:
        marks = [msgspec.to_builtins(mark) for mark in pictures.convergence.marks]
        shown = [{**mark, "at_s": round(mark["at_s"], _AT_DIGITS)} for mark in marks]
    else:
        boxes = pictures.boxes.boxes if pictures.boxes else ()
        shown = [msgspec.to_builtins(dot) for box in boxes for dot in box.dots]
    return {name: [launch[name] for launch in shown] for name in (shown[0] if shown else ())}


def _without_launches(pictures: Figures) -> dict[str, Any]:
    """Return the data of the pictures with numbers instead of launches, and without duplicates.

    Boxes have the order of the rows, which contain their summaries.
    """
    convergence, noise = pictures.convergence, pictures.noise
    found: dict[str, Any] = msgspec.to_builtins(
        replace(
            pictures,
            convergence=convergence and replace(convergence, marks=(), drift=()),
            noise=noise and replace(noise, numbers=(), percents=()),
        )
    )
    if found["boxes"]:
        for box in found["boxes"]["boxes"]:
            box["dots"] = [dot["number"] for dot in box["dots"]]
            del box["summary"]
    if convergence is not None:
        del found["convergence"]["marks"], found["convergence"]["launches"]
        found["convergence"]["drift"] = [mark.number for mark in convergence.drift]
    if noise is not None:
        del found["noise"]["numbers"], found["noise"]["percents"]
    del found["drawn"]
    if not found["progress"]:
        del found["progress"]
    return found


_AT_DIGITS = 4
"""Decimal digits of seconds in interactive pictures; the samples have all digits."""


def _row_data(row: ArmRow) -> dict[str, Any]:
    low, high = row.claim.ci if row.claim else (None, None)
    numbers = {key: getattr(row.summary, key) for key in _NUMBERS} if row.summary else {"n": 0}
    return {
        "name": row.name,
        "settings": dict(row.configuration),
        "phase": row.phase.value,
        "role": row.role.value,
        "ratio": row.ratio,
        "ci_low": low,
        "ci_high": high,
        "verdict": row.claim.verdict.value if row.claim else None,
        **numbers,
        "timed_out": row.having(State.CENSORED),
        "failed": row.having(State.FAILED) + row.having(State.ABSENT),
        "left_out": row.having(State.LEFT_OUT),
        **({"disturbed": row.disturbed} if row.disturbed else {}),
    }


_NUMBERS = ("n", "min", "q1", "median", "q3", "max", "mean", "sd", "sem")


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot represent by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
