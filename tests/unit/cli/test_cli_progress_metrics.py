"""Metrics of ``--progress``, derived metrics, and ``--until``."""

from __future__ import annotations

import pytest

from assay.api.options.metrics import parse_metrics, reported_metrics
from assay.api.options.progress import parse_until
from assay.api.options.workload_options import WorkloadOptions
from assay.errors import InvalidInputError
from assay.executors.metrics.direction import demand_directed
from assay.records import Derivation, DerivationKind, Goal, Metric, Progress, RateForm, Until
from assay.search.claims.requirement import parse_requirements

SPEED = "sps=samples/s: ([0-9.]+)"
LOSS = "loss=loss ([0-9.]+)"


def options(*progress: str, **others: object) -> WorkloadOptions:
    return WorkloadOptions(progress=progress, **others)  # type: ignore[arg-type]


def by_name(given: WorkloadOptions) -> dict[str, Metric]:
    return {metric.name: metric for metric in parse_metrics(given)}


def test_pattern_reads_lines() -> None:
    found = by_name(options(SPEED))["sps"]
    assert found.progress == Progress(pattern="samples/s: ([0-9.]+)")
    assert found.is_reported


def test_name_alone_reads_channel_or_file() -> None:
    assert by_name(options("sps"))["sps"].progress == Progress()
    found = by_name(options("sps", progress_file="log.csv"))["sps"]
    assert found.progress == Progress(file="log.csv")


def test_first_progress_metric_is_the_default_objective() -> None:
    given = options(LOSS, SPEED, metric=("user_s",))
    assert [m.name for m in parse_metrics(given)] == ["loss", "sps", "user_s", "wall_s"]
    assert parse_metrics(options(LOSS, SPEED, objective=("sps",)))[0].name == "sps"


def test_goal_applies_to_progress_metric() -> None:
    assert by_name(options(SPEED, goal=("higher",)))["sps"].goal is Goal.HIGHER


def test_goal_that_no_option_gives_is_assumed() -> None:
    assert parse_metrics(options(SPEED))[0].goal_assumed
    assert not parse_metrics(options(SPEED, goal=("higher",)))[0].goal_assumed


@pytest.mark.parametrize(
    ("text", "unit", "form"),
    [
        (SPEED, (), RateForm.RATE),
        ("sps", (), RateForm.RATE),
        ("v=([0-9.]+) it/s", (), RateForm.RATE),
        ("v", ("v=samples/s",), RateForm.RATE),
        ("v=([0-9.]+) s/it", (), RateForm.DURATION),
        ("step_ms", (), RateForm.DURATION),
        (LOSS, (), RateForm.LEVEL),
    ],
)
def test_form_without_goal_follows_name_pattern_and_unit(
    text: str, unit: tuple[str, ...], form: RateForm
) -> None:
    assert parse_metrics(options(text, unit=unit))[0].rate_form is form


def test_final_value_of_rate_without_goal_is_better_if_higher() -> None:
    assert by_name(options(SPEED, metric=("final(sps)",)))["final(sps)"].goal is Goal.HIGHER


@pytest.mark.parametrize(
    ("text", "derivation"),
    [
        (
            "time_to(loss<=0.3)",
            Derivation(kind=DerivationKind.TIME_TO, metric="loss", level=0.3, falling=True),
        ),
        (
            "time_to( loss >= 2e-1 )",
            Derivation(kind=DerivationKind.TIME_TO, metric="loss", level=0.2, falling=False),
        ),
        ("at(step=1000).loss", Derivation(kind=DerivationKind.AT, metric="loss", step=1000.0)),
        ("final(loss)", Derivation(kind=DerivationKind.FINAL, metric="loss")),
        ("step_s", Derivation(kind=DerivationKind.STEP)),
    ],
)
def test_derived_metrics(text: str, derivation: Derivation) -> None:
    given = options(LOSS, metric=(text,))
    assert by_name(given)[text].derivation == derivation
    assert reported_metrics(given) == ("loss", text)


def test_value_at_a_step_has_unit_and_goal_of_its_metric() -> None:
    given = options("acc", metric=("at(step=10).acc",), unit=("acc=%",), goal=("acc=higher",))
    found = by_name(given)["at(step=10).acc"]
    assert (found.unit, found.goal) == ("%", Goal.HIGHER)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (options("samples per s"), "Invalid metric: --progress 'samples per s'."),
        (options("wall_s=([0-9]+)"), "wall_s is the name of a built-in metric."),
        (options("a=([0-9]+)", "a=(x)"), "The metric a is given twice."),
        (options("a=([0-9]+"), "--progress: invalid regular expression '([0-9]+'"),
        (options(progress_file="x.csv"), "--progress-file x.csv has no metric."),
        (options(LOSS, metric=("time_to(los<=1)",)), "time_to(los<=1): unknown metric 'los'."),
        (options(LOSS, metric=("time_to(loss)",)), "Invalid metric: 'time_to(loss)'."),
        (options(metric=("step_s",)), "step_s needs the steps of the program."),
    ],
)
def test_invalid_options_name_their_cause(given: WorkloadOptions, cause: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        parse_metrics(given)
    assert error.value.cause.startswith(cause)
    assert error.value.remedy


def test_until() -> None:
    metrics = parse_metrics(options(SPEED))
    assert parse_until(None, metrics) is None
    assert parse_until("end", metrics) is None
    assert parse_until("auto", metrics) == Until()
    assert parse_until("steady:200", metrics) == Until(steady_steps=200.0)


@pytest.mark.parametrize(
    "text", ["steady", "steady:0", "steady:-1", "steady:1.5", "soon", "auto:3"]
)
def test_until_rejects_other_texts(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--until: invalid value"):
        parse_until(text, parse_metrics(options(SPEED)))


def test_until_rejects_objective_of_whole_launches() -> None:
    metrics = parse_metrics(options(SPEED, objective=("wall_s",)))
    with pytest.raises(InvalidInputError, match="the objective wall_s needs whole launches"):
        parse_until("auto", metrics)


@pytest.mark.parametrize("name", ["tqdm", "keras", "lightning", "huggingface", "lammps", "gromacs"])
def test_known_format_gives_its_speed(name: str) -> None:
    found = parse_metrics(options(name, compares=True))[0]
    assert (found.name, found.unit, found.goal) == ("steps_per_s", "steps/s", Goal.HIGHER)
    assert found.progress == Progress(preset=name)
    assert not found.goal_assumed
    assert reported_metrics(options(name)) == ("steps_per_s",)


@pytest.mark.parametrize(
    ("text", "name", "progress"),
    [
        ("tqdm.loss", "loss", Progress(preset="tqdm", key="loss")),
        ("speed=keras", "speed", Progress(preset="keras")),
        ("train_loss=huggingface.train/loss", "train_loss", None),
    ],
)
def test_known_format_gives_its_values(text: str, name: str, progress: Progress | None) -> None:
    found = parse_metrics(options(text))[0]
    assert found.name == name
    assert found.progress == (progress or Progress(preset="huggingface", key="train/loss"))


def test_known_format_with_time_per_step_is_better_if_lower() -> None:
    assert parse_metrics(options("tqdm", unit=("steps_per_s=s/it",)))[0].goal is Goal.LOWER


@pytest.mark.parametrize(
    "text", ["tqm", "tqmd", "tdqm", "TQDM", "hugging_face", "kera", "gromac", "gromax"]
)
def test_misspelled_format_is_refused_with_a_suggestion(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_metrics(options(text))
    assert "Did you mean" in str(refused.value.remedy)
    assert parse_metrics(options(text, progress_file="log.csv"))[0].name == text


@pytest.mark.parametrize("text", ["sps", "loss", "frames", "grams", "terms", "lightness"])
def test_name_unlike_a_format_reads_the_channel(text: str) -> None:
    assert parse_metrics(options(text))[0].progress == Progress()


def test_pattern_and_format_apply_to_the_lines_of_a_file() -> None:
    found = by_name(options(SPEED, "tqdm", progress_file="train.log"))
    assert found["sps"].progress == Progress(pattern="samples/s: ([0-9.]+)", file="train.log")
    assert found["steps_per_s"].progress == Progress(preset="tqdm", file="train.log")


def test_value_with_an_invalid_name_needs_one() -> None:
    with pytest.raises(InvalidInputError, match="Invalid metric"):
        parse_metrics(options("tqdm.train/loss"))


def test_pattern_of_a_rate_needs_a_goal() -> None:
    metric = parse_metrics(options("x=throughput ([0-9.]+)", compares=True))[0]
    with pytest.raises(InvalidInputError, match="looks like a rate"):
        demand_directed([metric])


@pytest.mark.parametrize(
    ("name", "progress", "remedy"),
    [
        ("final(loss)", (), "Add --progress 'loss=REGEX' and --metric 'final(loss)'."),
        ("time_to(loss<=0.3)", (LOSS,), "Add --metric 'time_to(loss<=0.3)'."),
        ("at(step=5).loss", (LOSS,), "Add --metric 'at(step=5).loss'."),
        ("final(loss).x", (LOSS,), "Write final(loss): only at(step=N) is followed by a name."),
        ("at(step=5)", (LOSS,), "Write at(step=5).NAME, with the name of a metric of --progress."),
        ("step_s", (LOSS,), "Add --metric step_s, which needs the steps of --progress NAME=REGEX."),
    ],
)
def test_derived_metric_that_is_not_declared_names_the_options(
    name: str, progress: tuple[str, ...], remedy: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse_metrics(options(*progress, objective=(name,)))
    assert refused.value.remedy == remedy
    with pytest.raises(InvalidInputError) as refused:
        parse_requirements([f"{name}<=1"], by_name(options(*progress)))
    assert refused.value.remedy == remedy
