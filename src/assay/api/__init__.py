"""Public Python API, and execution of the typed requests that the command line builds too.

Public names are loaded on first use, so that importing this package costs next to nothing.
"""

from assay.lazy_names import lazy_names

TYPE_CHECKING = False
"""Same as ``typing.TYPE_CHECKING``; loading ``typing`` takes longer than all other imports."""

if TYPE_CHECKING:
    from assay.api.functions.asynchronous import compare_async as compare_async
    from assay.api.functions.asynchronous import measure_async as measure_async
    from assay.api.functions.asynchronous import sweep_async as sweep_async
    from assay.api.functions.asynchronous import tune_async as tune_async
    from assay.api.functions.background import Study as Study
    from assay.api.functions.background import in_thread as in_thread
    from assay.api.functions.domains import Range as Range
    from assay.api.functions.new_studies import calibrate as calibrate
    from assay.api.functions.new_studies import compare as compare
    from assay.api.functions.new_studies import measure as measure
    from assay.api.functions.new_studies import sweep as sweep
    from assay.api.functions.new_studies import tune as tune
    from assay.api.functions.previews import Design as Design
    from assay.api.functions.previews import SearchSpace as SearchSpace
    from assay.api.functions.previews import design as design
    from assay.api.functions.previews import search_space as search_space
    from assay.api.functions.progress import Progress as Progress
    from assay.api.functions.single_launches import explain as explain
    from assay.api.functions.single_launches import run as run
    from assay.api.functions.stored_studies import confirm as confirm
    from assay.api.functions.stored_studies import load_study as load_study
    from assay.api.functions.stored_studies import resume as resume
    from assay.api.process import AssayWarning as AssayWarning
    from assay.api.results.result import Result as Result
    from assay.api.results.run_result import RunResult as RunResult
    from assay.api.trials.session import Session as Session
    from assay.api.trials.trial import Trial as Trial
    from assay.errors import AssayError as AssayError
    from assay.errors import InvalidInputError as InvalidInputError
    from assay.errors import NotPossibleError as NotPossibleError
    from assay.errors import StudyPaused as StudyPaused
    from assay.errors import StudyStopped as StudyStopped
    from assay.errors import WorkloadFailedError as WorkloadFailedError

MODULES = {
    "AssayError": "assay.errors",
    "AssayWarning": "assay.api.process",
    "Design": "assay.api.functions.previews",
    "InvalidInputError": "assay.errors",
    "NotPossibleError": "assay.errors",
    "Progress": "assay.api.functions.progress",
    "Range": "assay.api.functions.domains",
    "Result": "assay.api.results.result",
    "RunResult": "assay.api.results.run_result",
    "SearchSpace": "assay.api.functions.previews",
    "Session": "assay.api.trials.session",
    "Study": "assay.api.functions.background",
    "StudyPaused": "assay.errors",
    "StudyStopped": "assay.errors",
    "Trial": "assay.api.trials.trial",
    "WorkloadFailedError": "assay.errors",
    "calibrate": "assay.api.functions.new_studies",
    "compare": "assay.api.functions.new_studies",
    "compare_async": "assay.api.functions.asynchronous",
    "confirm": "assay.api.functions.stored_studies",
    "design": "assay.api.functions.previews",
    "explain": "assay.api.functions.single_launches",
    "in_thread": "assay.api.functions.background",
    "load_study": "assay.api.functions.stored_studies",
    "measure": "assay.api.functions.new_studies",
    "measure_async": "assay.api.functions.asynchronous",
    "resume": "assay.api.functions.stored_studies",
    "run": "assay.api.functions.single_launches",
    "search_space": "assay.api.functions.previews",
    "sweep": "assay.api.functions.new_studies",
    "sweep_async": "assay.api.functions.asynchronous",
    "tune": "assay.api.functions.new_studies",
    "tune_async": "assay.api.functions.asynchronous",
}
"""Module of each public name."""

if not TYPE_CHECKING:  # a type checker reports unknown names
    __getattr__, __dir__ = lazy_names(globals(), MODULES)
