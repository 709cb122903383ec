"""The catalogue without its programs: roofs, published figures, arguments of programs."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import assay.workloads
from assay.cli.case.rendering import ladder_notes
from assay.errors import InvalidInputError, NotPossibleError
from assay.records import Budget, Conclusion, Kind, StudySpec, Workload
from assay.study.result import StudyResult
from assay.workloads.kernels import Kernel, Variant, describe, find_kernel, parameter_words
from assay.workloads.ladder import Step, arms_of, ladder
from assay.workloads.published import published_figures
from assay.workloads.roofline import roofline_svg
from assay.workloads.roofs import Roofs


def variant(name: str, parent: str = "", flops: float = 2e9, moved: float = 1e9) -> Variant:
    return Variant(
        variant=name,
        parent=parent,
        isa="any",
        description="a step",
        incorrect=False,
        flops=flops,
        moved_bytes=moved,
        moved_bytes_with_allocate=moved,
    )


def kernel(*variants: Variant) -> Kernel:
    return Kernel(
        kernel="made-up",
        title="Work & <nothing>",
        source="nowhere",
        bound="nothing",
        options=(),
        parameters={"n": 7, "degree": 3},
        bytes=56.0,
        variants=variants,
    )


def test_roof_is_the_slower_of_cores_and_memory() -> None:
    roofs = Roofs(gflop_per_s=100.0, gb_per_s=10.0)
    assert roofs.bound_s(variant("a", flops=2e9, moved=1e9)) == pytest.approx(0.1)
    assert roofs.bound_s(variant("a", flops=2e11, moved=1e9)) == pytest.approx(2.0)


def test_higher_roof_counts_and_variants_above_it_get_a_note() -> None:
    first, second = Roofs(gflop_per_s=50.0, gb_per_s=20.0), Roofs(gflop_per_s=60.0, gb_per_s=5.0)
    roofs = first.higher(second)
    assert roofs == Roofs(gflop_per_s=60.0, gb_per_s=20.0)
    bound_s = roofs.bound_s(variant("one"))
    workload = Workload(argv=("prog",), cwd="/")
    spec = StudySpec(kind=Kind.COMPARE, workload=workload, budget=Budget(time_s=1.0))
    conclusion = Conclusion(kind=Kind.COMPARE, metric="s", notes=("a note",))
    result = StudyResult("abcdefg", spec, conclusion, 1.0)

    def told(median_s: float) -> tuple[str, ...]:
        return ladder_notes(result, [Step(variant("one"), None, median_s, None)], roofs)

    assert told(1.01 * bound_s) == told(0.97 * bound_s) == ("a note",)
    assert told(0.9 * bound_s)[1].endswith("above it are one")


def test_arms_use_the_same_data() -> None:
    words = parameter_words(kernel())
    assert words == ("--n", "7", "--degree", "3")
    own = kernel(variant("a"), variant("b", "a"))
    first, second = arms_of(Path("/a b/prog"), own, own.variants, words, 0.2)
    assert first.name == "a" and first.parent is None
    assert second.name == "b" and second.parent == "a"
    command = "'/a b/prog' --variant a --seconds 0.2 --n 7 --degree 3"
    assert first.configuration["command"] == command


def test_step_compares_with_the_nearest_ancestor_that_runs() -> None:
    own = kernel(variant("a"), variant("b", "a"), variant("c", "b"), variant("library"))
    run = [one for one in own.variants if one.variant != "b"]
    arms = arms_of(Path("prog"), own, run, (), 0.2)
    assert [(arm.name, arm.parent) for arm in arms] == [
        ("a", None),
        ("c", "a"),
        ("library", None),
    ]
    assert [
        step.against for step in ladder(own, run, Conclusion(kind=Kind.COMPARE, metric="s"), ())
    ] == [
        None,
        "a",
        None,
    ]


def test_available_variants_are_neither_broken_nor_missing() -> None:
    made = kernel(
        variant("a"),
        Variant(variant="b", parent="a", isa="any", description="w", incorrect=True),
        Variant(
            variant="c",
            parent="a",
            isa="any",
            description="w",
            incorrect=False,
            unavailable="no library",
        ),
    )
    assert [one.variant for one in made.available] == ["a"]


def test_published_figures_have_a_source_and_a_value() -> None:
    path = Path(assay.workloads.__file__).with_name("published.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows and all(all(text.strip() for text in row.values()) for row in rows)
    figures = published_figures("horner")
    assert [one.value for one in figures] == ["128-256", "256-512", "2 * degree / element size"]
    assert published_figures("no-such-case") == ()


def test_roofline_shows_every_measured_variant() -> None:
    steps = [
        Step(variant("first"), None, 1.0, None),
        Step(variant("second", "first"), "first", 0.5, None),
        Step(variant("never", "first"), "first", None, None),
        Step(variant("bytes-alone", "first", flops=0.0), "first", 0.5, None),
    ]
    root = ElementTree.fromstring(
        roofline_svg(kernel(), steps, Roofs(gflop_per_s=50.0, gb_per_s=10.0)).partition("?>")[2]
    )
    told = " ".join("".join(element.itertext()) for element in root.iter())
    assert "first: 2.00, 10 % of the roof" in told and "second: 4.00" in told
    assert "never" not in told and "Work & <nothing>" in told


def test_programs_are_found_beside_the_launcher(tmp_path: Path) -> None:
    launcher = tmp_path / "assay-exec"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    program = tmp_path / "assay-kernel-good"
    program.write_text(
        "#!/bin/sh\necho 'assay-kernel-good: it cannot' >&2; exit ${1#--describe}2\n"
    )
    program.chmod(0o755)
    env = {"ASSAY_EXEC": str(launcher)}
    assert find_kernel("good", env) == program
    with pytest.raises(InvalidInputError, match="it cannot"):
        describe(program)
    program.write_text("#!/bin/sh\nexit 7\n")
    with pytest.raises(NotPossibleError, match="ended with status 7"):
        describe(program)
    with pytest.raises(InvalidInputError, match="Did you mean good"):
        find_kernel("god", env)
