"""Notes on studies whose trials ran within the user's processes."""

from __future__ import annotations

from assay.records import Stage
from assay.search.races.trial_race import TrialRace
from assay.search.races.tune import TuneRace
from assay.wording.processes import unit_note


def process_notes(race: TuneRace) -> list[str]:
    """Return a note on the unit of the statistics, if it is the process.

    Args:
        race: race with all samples.
    """
    if not isinstance(race, TrialRace):
        return []
    return [unit_note(len(race.history.complete(Stage.CONFIRM)), race.processes_needed)]
