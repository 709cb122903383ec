"""Requests on studies of a store."""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.records.budget import Budget
from assay.records.codec import Record
from assay.records.study import DEFAULT_MARGIN
from assay.requests.checks import demand_share
from assay.requests.study import DEFAULT_BUDGET_S, BootRequest, check_budget


class ResumeRequest(Record, frozen=True, kw_only=True):
    """Continuation of a study.

    Attributes:
        study: id of the study, its beginning, or ``last``.
        budget: new remaining limits, in seconds and launches (default: the rest of the budget).
        new_stratum: start of a new stratum for a changed program or machine (default: false, which
            refuses to mix them).
        boot: settings of boot and firmware (default: none).
    """

    study: str
    budget: Budget | None = None
    new_stratum: bool = False
    boot: BootRequest = BootRequest()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a limit of the budget is invalid.
        """
        if self.budget is not None:
            check_budget(self.budget)


class ConfirmRequest(Record, frozen=True, kw_only=True):
    """Comparison of a study's recommendation with the default, here and now.

    Attributes:
        study: id of the study, its beginning, or ``last``.
        budget: limits of the comparison, in seconds and launches (default: 600 seconds).
        point: point of the Pareto front of the study, by number or settings (default: the best in
            the first objective).
        changes_disturbed_above: ``disturbed_above`` replaces the share of the study (default:
            false).
        disturbed_above: share of the CPUs that other processes may use during an undisturbed block;
            ``None`` counts every block as undisturbed.
    """

    study: str
    budget: Budget = Budget(time_s=DEFAULT_BUDGET_S)
    point: str | None = None
    changes_disturbed_above: bool = False
    disturbed_above: float | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a limit of the budget, or the share, is invalid.
        """
        check_budget(self.budget)
        demand_share("disturbed_above", self.disturbed_above)


class StudyCompareRequest(Record, frozen=True, kw_only=True):
    """Comparison of two conditions that were measured apart.

    Attributes:
        a, b: conditions: a study or a bundle (with ``:STRATUM`` or ``@ARM``), a line of a table of
            published figures (``runs.csv:2``), or figures (``n=30,mean=299.4,sd=3.38``).
        metric: name of the metric (default: the objective).
        margin: margin of equivalence, as a share (default: 0.01).
        occasions: further studies or bundles for the variance between occasions (default: all
            comparable studies of the store).
        same_workload: assertion that two different commands do the same work (default: false).
        gate: verdicts that make the exit status 1 (default: none).
    """

    a: str
    b: str
    metric: str | None = None
    margin: float = DEFAULT_MARGIN
    occasions: tuple[str, ...] = ()
    same_workload: bool = False
    gate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidInputError: a condition is missing, or the margin is invalid.
        """
        if not self.a or not self.b:
            raise InvalidInputError("A condition is empty.", "Give a and b.")
        demand_share("margin", self.margin)


class ExportFile(Record, frozen=True, kw_only=True):
    """One file of an export.

    Attributes:
        form: ``bundle``, ``csv``, ``json``, ``openmetrics``, or ``series`` for a table of reported
            values.
        path: path of the file; ``-`` for standard output.
    """

    form: str
    path: str


class ExportRequest(Record, frozen=True, kw_only=True):
    """Export of a study to files.

    Attributes:
        study: id of the study, its beginning, or ``last``.
        files: files to write.
        outputs: inclusion of the output of the program (default: true).
    """

    study: str
    files: tuple[ExportFile, ...]
    outputs: bool = True


class VerifyRequest(Record, frozen=True, kw_only=True):
    """Check of the data, the verdicts and the signature of a bundle.

    Attributes:
        path: path of the bundle.
        signature: path of the signature of ``ssh-keygen -Y sign`` (default: none; the signature is
            not checked).
        signer: path of the public key of the signer, or ``NAME=FILE`` with a file of allowed
            signers (default: none).
    """

    path: str
    signature: str | None = None
    signer: str | None = None


class ReportRequest(Record, frozen=True, kw_only=True):
    """Page, or main picture, of a study.

    Attributes:
        study: id of the study, its beginning, or ``last``.
        path: path of the file, with the suffix ``.html``, ``.svg`` or ``.png``; ``None`` for a page
            on standard output (default: ``report.html``).
    """

    study: str
    path: str | None = "report.html"
