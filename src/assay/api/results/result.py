"""Result of a study."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.results.documents import result_document
from assay.api.results.figure import figure_of
from assay.api.results.frame import frame_of, rows_of
from assay.api.results.html import notebook_html
from assay.api.results.sentences import verdict_lines
from assay.bundle.document import json_pieces
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import (
    ArmResult,
    Claim,
    Conclusion,
    Configuration,
    Kind,
    Recommendation,
    RecommendationStatus,
    Sample,
    Status,
    StudySpec,
    Verdict,
    to_builtins,
)
from assay.records.configuration import show_value
from assay.reporting.html import render_page, write_document
from assay.reporting.inputs import ReportInput
from assay.reporting.main_picture import main_png, main_svg
from assay.search.conclusion.cells import best_claim
from assay.study.result import StudyResult
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.trial_words import sample_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = {".html": render_page, ".htm": render_page, ".svg": main_svg, ".png": main_png}
"""Writers of a report, by the suffix of the file."""


class Result:
    """Result of a study, or its state if it is not finished.

    In a notebook it shows itself: verdict, table, pictures and report.

    Args:
        report: newest stratum of the study.
        result: result of the stratum; ``None`` if it has none.

    Examples:
        >>> import assay
        >>> result = assay.compare([["sleep", "0.02"], ["sleep", "0.01"]], runs=40)
        >>> print(result)
        sleep 0.01 ...
        >>> len(result.rows) == len(result.samples)
        True
        >>> result.report("report.html").exists()
        True
        >>> result.figure("gain").axes[0] is not None
        True
    """

    def __init__(self, report: ReportInput, result: StudyResult | None) -> None:
        self._report = report
        # The report holds the samples.
        self._result = replace(result, samples=()) if result is not None else None

    @property
    def id(self) -> str:
        """Id of the study."""
        return self._report.study_id

    @property
    def kind(self) -> Kind:
        """Kind of the study: ``tune``, ``compare``, ``measure``, ``sweep`` or ``calibrate``."""
        return self._report.spec.kind

    @property
    def status(self) -> Status | None:
        """State of the study, such as ``done`` or ``interrupted``."""
        return self._report.status

    @property
    def spec(self) -> StudySpec:
        """Specification of the study."""
        return self._report.spec

    @property
    def conclusion(self) -> Conclusion | None:
        """Conclusion of the newest stratum; ``None`` if it has none yet."""
        return self._report.conclusion

    @property
    def recommendation(self) -> Recommendation:
        """Best configuration of a ``tune``.

        Raises:
            NotPossibleError: a study of another kind, or one without a conclusion.
        """
        if self._recommendation is None:
            raise NotPossibleError(
                f"Study {self.id} ({self.kind}) has no recommendation.",
                "Only a finished tune has one; result.claims has the verdicts of other studies.",
            )
        return self._recommendation

    @property
    def _recommendation(self) -> Recommendation | None:
        return None if self.conclusion is None else self.conclusion.recommendation

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims with ratio, interval and verdict."""
        return () if self.conclusion is None else self.conclusion.claims

    @property
    def arms(self) -> tuple[ArmResult, ...]:
        """Arms with the summaries of their metrics."""
        return () if self.conclusion is None else self.conclusion.arms

    @property
    def verdict(self) -> Verdict | RecommendationStatus | None:
        """Verdict in one word.

        For ``tune`` the evidence of the recommendation, for ``compare`` the verdict of the first
        claim, for ``sweep`` that of the best cell; ``None`` for studies without a decision.
        """
        if self._recommendation is not None:
            return self._recommendation.status
        if self.conclusion is None or self.kind is Kind.CALIBRATE:
            return None
        if self.kind is Kind.SWEEP:
            best = best_claim(self.conclusion)
            return None if best is None else best.verdict
        return self.claims[0].verdict if self.claims else None

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Samples of the newest stratum, in the order of launch."""
        return tuple(self._report.samples)

    @property
    def notes(self) -> tuple[str, ...]:
        """Limitations of the answer."""
        return () if self._result is None else self._result.notes

    @property
    def elapsed_s(self) -> float:
        """Time spent on the study over all its sessions, in seconds."""
        return self._report.elapsed_s

    @property
    def script(self) -> str:
        """Shell script that runs the recommendation without assay; empty without one."""
        return self._report.script

    @property
    def command(self) -> str:
        """Command that runs the best configuration once more, as shell text.

        Best are the recommendation of a ``tune``, and the arm of a ``compare`` or ``sweep`` that a
        claim shows to be better; without one the command runs the default or the baseline.
        """
        chosen = self._chosen
        if "command" in chosen:
            return str(chosen["command"])
        settings = [f"{name}={show_value(value)}" for name, value in chosen.items()]
        words = self.spec.workload.argv
        if self.spec.in_process:  # the program applies the settings itself
            return shlex.join(words)
        return shlex.join(["assay", "run", *settings, "--", *words] if settings else words)

    @property
    def _chosen(self) -> Configuration:
        if self._recommendation is not None:
            return self._recommendation.settings
        arms = {arm.name: arm.configuration for arm in self.arms}
        if self.conclusion is not None and self.kind in (Kind.COMPARE, Kind.SWEEP):
            best = best_claim(self.conclusion)
            if best is not None and best.verdict is Verdict.FASTER and best.b in arms:
                return arms[best.b]
        return self.spec.arms[0].configuration if self.spec.arms else Configuration()

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Verdict in words; untrusted text is escaped."""
        if self.conclusion is None:
            return (f"Study {self.id} has no conclusion yet ({self.status}).",)
        return tuple(clean(line) for line in verdict_lines(self.conclusion, self.spec))

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One row for each sample, as in ``to_frame``."""
        return rows_of(self.id, self.spec, self.samples)

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row for each sample as a data frame.

        Args:
            library: ``pandas`` or ``polars`` (default: the first one that is installed).

        Raises:
            InvalidInputError: an unknown library.
            NotPossibleError: the library is not installed.
        """
        return frame_of(self.rows, library)

    def figure(self, name: str | None = None) -> Figure:
        """Return a picture of the study as a Matplotlib figure.

        Args:
            name: ``arms``, ``gain``, ``progress``, ``launches``, ``noise``, ``heatmap`` or
                ``front`` (default: the main one).

        Raises:
            InvalidInputError: an unknown picture, or one without data.
            NotPossibleError: no launch has a value.
        """
        return figure_of(self._report, name)

    def report(self, path: str | Path = "report.html") -> Path:
        """Write the report, or its main picture, to a file; return its path.

        Args:
            path: path with the suffix ``.html``, ``.svg`` or ``.png``.

        Raises:
            InvalidInputError: an unknown suffix.
            NotPossibleError: the file cannot be written.
        """
        path = Path(path)
        draw = FORMS.get(path.suffix.lower())
        if draw is None:
            raise InvalidInputError(
                f"{path}: unknown suffix.", f"Give a file with one of {', '.join(FORMS)}."
            )
        write_document(draw(self._report), path)
        return path

    def to_json(self) -> str:
        """Return the document that the command line prints with ``--json``.

        Raises:
            NotPossibleError: the study has no conclusion yet.
        """
        if self._result is None:
            raise NotPossibleError(
                f"Study {self.id} has no conclusion yet.",
                f'assay.resume("{self.id}") continues it.',
            )
        return "".join(json_pieces(result_document(self._labelled, self._report.samples)))

    @property
    def _labelled(self) -> StudyResult:
        assert self._result is not None and self.conclusion is not None
        return replace(self._result, conclusion=self.conclusion)

    def to_dict(self) -> dict[str, Any]:
        """Return the specification, the conclusion and the samples as plain values."""
        return {
            "study": self.id,
            "spec": to_builtins(self.spec),
            "conclusion": None if self.conclusion is None else to_builtins(self.conclusion),
            "samples": [to_builtins(sample) for sample in self.samples],
        }

    def __repr__(self) -> str:
        count = show_count(len(self.samples), *sample_words(self.spec).noun)
        head = f"<assay.Result {self.kind} {self.id}, {count}: "
        return f"{head}{' '.join(self.sentences)}>"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        return self._html

    @cached_property
    def _html(self) -> str:
        return notebook_html(self._report, list(self.sentences))
