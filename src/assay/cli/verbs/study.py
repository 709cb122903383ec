"""``assay study``: actions on the store; the others are in ``stored_study``, which loads slowly."""

from __future__ import annotations

import time

from assay.cli.arguments.common import common_options
from assay.cli.arguments.store import label_of, removes_label, selection_of
from assay.cli.arguments.study_actions import demand_study_options, study_name
from assay.cli.parsing.parser import Parsed
from assay.cli.show.studies import change_label, delete_study, list_studies
from assay.store import open_store


def run(parsed: Parsed) -> int:
    """Run the verb."""
    demand_study_options(parsed)
    options = common_options(parsed)
    match parsed.action:
        case "list":
            return list_studies(selection_of(parsed, time.time()), options)
        case "label":
            label, name = label_of(parsed), study_name(parsed)
            with open_store(options.db, create=False) as store:
                study_id = store.find(name)
                return change_label(label, removes_label(parsed), options, store, study_id)
        case "delete":
            name = study_name(parsed)
            with open_store(options.db, create=False) as store:
                return delete_study(options, store, store.find(name))
        case "prune" | "compact":
            from assay.cli.verbs import store_size  # loads slowly

            return store_size.run(parsed)
    from assay.cli.verbs import stored_study

    return stored_study.run(parsed)
