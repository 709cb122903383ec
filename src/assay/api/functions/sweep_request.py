"""Request of ``assay.sweep``."""

from __future__ import annotations

import os

from msgspec import UNSET

from assay.api.functions.argument_types import demand_type
from assay.api.functions.fields import (
    Keywords,
    boot_of,
    disturbed_above_of,
    given_budget_of,
    margin_of,
    observations_of,
    reservation_of,
)
from assay.api.functions.keywords import FilePath, SweepKeywords
from assay.api.functions.known_keywords import demand_known
from assay.requests.sweep import SweepRequest


def sweep_request(
    file: str | os.PathLike[str], given: Keywords, *, dry_run: bool = False
) -> SweepRequest:
    """Return the request of ``sweep``.

    Raises:
        InvalidInputError: a value is invalid.
    """
    demand_known(given, SweepKeywords, "sweep")
    demand_type(file, FilePath, "file")
    limited = given.get("disturbed_above") is not None
    return SweepRequest(
        file=os.fspath(file),
        budget=given_budget_of(given),
        seed=given.get("seed"),
        margin=margin_of(given),
        null=bool(given.get("null")),
        disturbed_above=disturbed_above_of(given) if limited else UNSET,
        observe=observations_of(given),
        reserve=reservation_of(given),
        boot=boot_of(given),
        dry_run=dry_run,
    )
