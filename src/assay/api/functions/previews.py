"""Public functions that show a study without a launch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

from assay.api.functions.domains import Space
from assay.api.functions.fields import Command
from assay.api.functions.keywords import SweepKeywords, TuneKeywords
from assay.api.functions.new_studies import tune_request
from assay.api.functions.public import with_keywords
from assay.api.functions.session import session
from assay.api.functions.sweep_request import sweep_request
from assay.api.studies.sweeping import DesignChoice
from assay.api.studies.sweeping import sweep as execute_sweep
from assay.api.studies.tuning import SpaceChoice
from assay.api.studies.tuning import tune as execute_tune
from assay.records import Arm, Domain, StudySpec


@dataclass(frozen=True)
class SearchSpace:
    """Search space of a ``tune`` before its first launch.

    Attributes:
        spec: specification of the study.
        left_out: reason for each setting that is left out.
        notes: notes on an empty space.

    Examples:
        >>> import assay
        >>> list(assay.search_space(["sleep", "{s}"], {"arg.s": [2, 1]}).settings)
        ['arg.s']
    """

    spec: StudySpec
    left_out: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def settings(self) -> dict[str, Domain]:
        """Values to try, by setting."""
        return {one.name: one.domain for one in self.spec.space.parameters}


@dataclass(frozen=True)
class Design:
    """Cells of a ``sweep`` before its first launch.

    Attributes:
        spec: specification of the study.
        launches: smallest number of launches of all cells.

    Examples:
        >>> import assay, pathlib
        >>> _ = pathlib.Path("experiment.toml").write_text('''
        ... [workload]
        ... command = "sleep {s}"
        ... [settings]
        ... "arg.s" = [2, 1]
        ... ''')
        >>> [dict(cell.configuration) for cell in assay.design("experiment.toml").cells]
        [{'arg.s': 2}, {'arg.s': 1}]
    """

    spec: StudySpec
    launches: int

    @property
    def cells(self) -> tuple[Arm, ...]:
        """Cells with their configurations, the baseline first."""
        return self.spec.arms


@with_keywords(TuneKeywords)
def search_space(
    command: Command, settings: Space | None = None, **options: Unpack[TuneKeywords]
) -> SearchSpace:
    """Return the space that ``tune`` would search; nothing is launched.

    Args:
        command: words of the command.
        settings: settings to vary (default: settings that may matter on this machine).
        **options: see ``TuneKeywords``.

    Raises:
        AssayError: a value is invalid, or no setting can be varied.

    Examples:
        >>> import assay
        >>> str(assay.search_space(["sleep", "{s}"], {"arg.s": [2, 1]}).settings["arg.s"])
        '2,1'
    """
    request = tune_request(command, settings, options, dry_run=True)
    with session(options) as context:
        found = execute_tune(request, context)
    assert isinstance(found, SpaceChoice)
    return SearchSpace(found.spec, found.left_out, found.notes)


@with_keywords(SweepKeywords)
def design(file: str | os.PathLike[str], **options: Unpack[SweepKeywords]) -> Design:
    """Return the cells that ``sweep`` would launch; nothing is launched.

    Args:
        file: path of the TOML file.
        **options: see ``SweepKeywords``.

    Raises:
        AssayError: the file or a value is invalid.

    Examples:
        >>> import assay, pathlib
        >>> _ = pathlib.Path("experiment.toml").write_text('''
        ... [workload]
        ... command = "sleep {s}"
        ... [settings]
        ... "arg.s" = [2, 1]
        ... ''')
        >>> len(assay.design("experiment.toml").cells)
        2
    """
    request = sweep_request(file, options, dry_run=True)
    with session(options) as context:
        found = execute_sweep(request, context)
    assert isinstance(found, DesignChoice)
    return Design(found.spec, found.launches)
