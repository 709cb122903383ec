"""File of ``assay sweep``: its tables, with the type and description of each key.

The reference is docs/reference/sweep-file.md.
The JSON Schema beside this module is made from these structures; a test holds the two together.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from assay.api.files.configuration_tables import Configurations
from assay.api.files.space_file import Constraints, Settings, Text
from assay.errors import NotPossibleError
from assay.records.workload import BUILT_IN
from assay.search.space.errors import MAX_CELLS

SCHEMA_FILE = "sweep.schema.json"

Goal = Literal["lower", "higher"]
Combine = Literal["sum", "mean", "max", "min"]


def about(description: str, example: Any, *, ge: int | None = None, le: int | None = None) -> Meta:
    """Return the description of a key with an example, for messages and for editors."""
    return Meta(description=description, examples=[example], ge=ge, le=le)


Duration = Annotated[
    Text | int | float,
    Meta(description="Duration, such as 90s, 10m or 2h, or a number of seconds."),
]
Share = Annotated[Text | float, Meta(description="Share, such as 1% or 0.01.")]


class LimitsTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Limits of a launch with all its processes."""

    mem: Annotated[Text | int, about("Size of memory, in bytes.", "2G")] | None = None
    procs: Annotated[int, about("Number of processes.", 64, ge=1)] | None = None
    cpu: Annotated[Duration, about("CPU time; a number is in seconds.", "30s")] | None = None
    output: Annotated[Text | int, about("Size of the output, in bytes.", "1G")] | None = None


class WorkloadTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Program to run, its metrics, and the check of its output."""

    command: Annotated[
        Text | list[str],
        about(
            "Program and arguments, as a text or as a list of words. {NAME} is replaced by the "
            "value of the setting arg.NAME.",
            "./app --jobs {jobs}",
        ),
    ]
    shell: Annotated[bool, about("True if bash runs the text (sh without bash).", True)] = False
    metrics: Annotated[
        list[Text] | dict[str, Text],
        about(
            f"Metrics: {', '.join(BUILT_IN)}, or NAME=REGEX for one in the output; or a table of "
            "names and regular expressions.",
            ["fps=([0-9.]+) fps"],
        ),
    ] = []
    progress: Annotated[
        list[Text],
        about(
            "Metrics that the program reports while it runs: NAME=REGEX for each line, NAME for a "
            "key of progress_file or of the progress channel, or a known format such as tqdm. They "
            "come before metrics.",
            ["sps=samples/s: ([0-9.]+)"],
        ),
    ] = []
    progress_file: (
        Annotated[
            Text,
            about(
                "File that the program appends these values to: text, CSV, JSON lines, or a "
                "TensorBoard event file or folder.",
                "train.csv",
            ),
        ]
        | None
    ) = None
    until: (
        Annotated[
            Text,
            about(
                "End of each launch: end (of the program), auto, or steady:N for N steady steps; "
                "end if absent.",
                "steady:200",
            ),
        ]
        | None
    ) = None
    unit: Annotated[
        dict[str, Text], about("Units of metrics from the output, by name.", {"fps": "1/s"})
    ] = {}
    goal: (
        Annotated[
            Goal | dict[str, Goal],
            about(
                "Direction of improvement of the objective, or a table of directions by metric.",
                "higher",
            ),
        ]
        | None
    ) = None
    metric_file: Annotated[
        dict[str, Text],
        about(
            "Files that launches write and metrics are read from, by metric.", {"fps": "log.txt"}
        ),
    ] = {}
    metric_as_is: Annotated[
        list[Text],
        about("Metrics whose matches count although they look like a part of a number.", ["fps"]),
    ] = []
    outputs_may_differ: Annotated[
        bool, about("True if cells with different outputs get a verdict too.", True)
    ] = False
    combine: Annotated[
        dict[str, Combine],
        about("Combination of the values of several instances, by metric.", {"rate": "sum"}),
    ] = {}
    objective: (
        Annotated[
            Text,
            about(
                "Objective: METRIC decides by its mean, METRIC:median and METRIC:spread by these. "
                "If absent the first of progress and metrics, else wall_s.",
                "wall_s",
            ),
        ]
        | None
    ) = None
    require: Annotated[
        list[Text],
        about(
            "Requirements: METRIC<=X or METRIC>=X on the median, METRIC:p90<=X on another "
            "quantile.",
            ["peak_anon_bytes<=200MiB"],
        ),
    ] = []
    check: (
        Annotated[
            Text,
            about("Regular expression that the output of a successful launch matches.", "done"),
        ]
        | None
    ) = None
    timeout: Annotated[Duration, about("Time limit of a launch.", "30s")] | None = None
    grace: (
        Annotated[
            Duration,
            about("Time between the request to end and SIGKILL; 10s if absent.", "30s"),
        ]
        | None
    ) = None
    limits: Annotated[
        LimitsTable, Meta(description="Limits of a launch with all its processes.")
    ] = msgspec.field(default_factory=LimitsTable)
    input: (
        Annotated[Text, about("File for standard input; /dev/null if absent.", "in.txt")] | None
    ) = None
    setup: (
        Annotated[Text, about("Command that runs once before the launches.", "make data")] | None
    ) = None
    prepare: (
        Annotated[Text, about("Command that runs before each launch; not timed.", "rm -f out")]
        | None
    ) = None
    build: (
        Annotated[
            Text,
            about(
                "Command that builds the program into {build}, once for each value of build.NAME; "
                "not timed.",
                "cc {opt} -o {build}/app app.c",
            ),
        ]
        | None
    ) = None
    build_input: Annotated[
        list[Text],
        about(
            "Sources of the build; if absent the files that build names, and those in this folder.",
            ["src"],
        ),
    ] = []
    build_timeout: (
        Annotated[
            Duration,
            about(
                "Time limit of a build; if absent ten times the longest one before.",
                "5m",
            ),
        ]
        | None
    ) = None
    cleanup: (
        Annotated[Text, about("Command that runs once after the launches.", "rm -r data")] | None
    ) = None
    stop: (
        Annotated[
            Text, about("Command that ends a launch, in place of SIGTERM.", "redis-cli shutdown")
        ]
        | None
    ) = None


class DesignTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Cells of the experiment and their repetitions."""

    kind: Annotated[
        Literal["grid", "factorial", "random", "latin-hypercube"],
        about(
            "Method that selects the cells. grid: all combinations. factorial: the two ends of "
            "each setting. random and latin-hypercube: n drawn cells.",
            "grid",
        ),
    ] = "grid"
    n: (
        Annotated[
            int,
            about("Number of cells to draw (random, latin-hypercube).", 20, ge=2, le=MAX_CELLS),
        ]
        | None
    ) = None
    resolution: (
        Annotated[
            int,
            about(
                "Resolution of a factorial design: the smallest fraction with this resolution or a "
                "higher one.",
                4,
                ge=3,
                le=5,
            ),
        ]
        | None
    ) = None
    generators: Annotated[
        list[Text],
        about(
            "Settings of a factorial design that are the product of others.",
            ["arg.d = arg.a * arg.b * arg.c"],
        ),
    ] = []
    centre: Annotated[
        bool, about("True if a factorial design has a cell at the middle of all numbers.", True)
    ] = False
    baseline: Annotated[
        dict[str, Any] | Text,
        about(
            "Settings of the cell that all others are compared with, or the name of a "
            "configuration (beside settings: the key configuration); the default configuration "
            "if absent.",
            {"threads": 1},
        ),
    ] = {}
    repeats: (
        Annotated[
            int,
            about(
                "Number of blocks, each with every cell once; if absent until all cells are "
                "decided.",
                10,
                ge=1,
                le=100_000,
            ),
        ]
        | None
    ) = None


class StudyTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Budget and precision of the study."""

    budget: (
        Annotated[Duration, about("Time to spend; ten minutes if runs is absent too.", "10m")]
        | None
    ) = None
    runs: Annotated[int, about("Number of launches to spend.", 500, ge=1)] | None = None
    precision: (
        Annotated[
            Share,
            about("Relative half width of the interval of the mean at which a cell stops.", "1%"),
        ]
        | None
    ) = None
    margin: (
        Annotated[
            Share,
            about(
                "Margin of equivalence: smaller differences count as none; if absent 1%, with "
                ":spread 25%.",
                "1%",
            ),
        ]
        | None
    ) = None
    warmup: (
        Annotated[
            int,
            about(
                "Number of warm-up launches of each cell, 1 if absent; with 0 one of the baseline "
                "only.",
                1,
                ge=0,
                le=1000,
            ),
        ]
        | None
    ) = None
    seed: Annotated[
        int, about("Seed of all random choices: the drawn cells and their order.", 7, ge=0)
    ] = 0
    null: Annotated[
        bool,
        about("True if the baseline runs twice in each block, which shows the noise floor.", True),
    ] = False
    disturbed_above: (
        Annotated[
            Text | float,
            about(
                "CPU share of other processes above which a block counts as disturbed, or never; "
                "10% if absent.",
                "10%",
            ),
        ]
        | None
    ) = None
    observe: (
        Annotated[
            Text,
            about(
                "Observations of the launches that count: all, none, or some of counters, memory, "
                "scheduling and readback; memory,scheduling if absent.",
                "memory",
            ),
        ]
        | None
    ) = None


class SweepTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Experiment of ``assay sweep``."""

    workload: Annotated[
        WorkloadTable,
        Meta(description="Program to run, its metrics, and the check of its output."),
    ]
    settings: Settings = {}
    constraints: Constraints = []
    configuration: Configurations = {}
    design: Annotated[
        DesignTable, Meta(description="Cells of the experiment and their repetitions.")
    ] = msgspec.field(default_factory=DesignTable)
    study: Annotated[StudyTable, Meta(description="Budget and precision of the study.")] = (
        msgspec.field(default_factory=StudyTable)
    )


def json_schema() -> dict[str, Any]:
    """Return the schema of a sweep file, generated from the structures."""
    found = _without_null(msgspec.json.schema(SweepTable))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "assay sweep",
        **found,
    }


def shipped_schema() -> dict[str, Any]:
    """Return the schema that is installed with this module.

    Raises:
        NotPossibleError: it is missing.
    """
    try:
        text = (resources.files("assay.api.files") / SCHEMA_FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise NotPossibleError(
            f"This installation is incomplete: {SCHEMA_FILE} is missing.",
            "Install assay again.",
        ) from error
    document: dict[str, Any] = json.loads(text)
    return document


def _without_null(schema: Any) -> Any:
    """Return a schema without null types and null defaults, which TOML does not have."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: _without_null(v) for k, v in schema.items() if not (k == "default" and v is None)}
    options = kept.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        others = {key: value for key, value in kept.items() if key != "anyOf"}
        return {**rest[0], **others} if len(rest) == 1 else {**others, "anyOf": rest}
    return kept
