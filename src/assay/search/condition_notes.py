"""Notes on the conditions of a study: what launches find that no setting of it says."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records import Stratum
from assay.settings.inherited import inherited_words


def condition_notes(stratum: Stratum) -> Iterator[str]:
    """Yield what the launches of a stratum inherited.

    Args:
        stratum: conditions of the launches.
    """
    if stratum.inherited:
        yield (
            f"every launch inherits {inherited_words(stratum.inherited)}; "
            "the setting inherited.NAME=unset takes one away"
        )
