"""Named configurations in files of spaces and sweeps, and in the words of a comparison."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assay.api.options.arm_words import arm_of, named_in_file
from assay.api.options.study_options import resolve_space
from assay.api.studies.sweep_specification import read_sweep
from assay.cli.show.cells import cell_lines
from assay.errors import InvalidInputError
from assay.machine.document import Cpu, Machine, Node, Rights
from assay.records import (
    DEFAULT,
    Arm,
    ArmResult,
    Budget,
    Choices,
    Claim,
    Conclusion,
    Configuration,
    Kind,
    Launch,
    NamedConfiguration,
    Outcome,
    Parameter,
    Recommendation,
    Sample,
    Space,
    Stage,
    StudySpec,
    Verdict,
    Workload,
)
from assay.requests.sweep import SweepRequest
from assay.search.space.labels import label_conclusion, label_samples
from assay.search.space.named_configurations import label_of, make_search_space
from assay.settings.registry import builtin
from assay.study.named_configurations import describe_named

HOST = Machine(
    arch="x86_64",
    kernel="6.1.0",
    kernel_version=(6, 1),
    model="test",
    cpus=tuple(Cpu(id=n, core=n, siblings=(n,)) for n in range(4)),
    allowed_cpus=(0, 1, 2, 3),
    nodes=(Node(id=0, cpus=(0, 1, 2, 3), memory_bytes=1 << 30),),
    rights=Rights(uid=0),
)
FILE = """\
[configuration.A]
"boot.nohz_full" = "1-3"
malloc = "glibc"
nice = 0

[configuration.mOS]
boot.kernel = "5.6.0-mos"
malloc = "tcmalloc"
"""
WORKLOAD = '[workload]\ncommand = "true"\n'


def swept(folder: Path, text: str) -> StudySpec:
    path = folder / "sweep.toml"
    path.write_text(WORKLOAD + text)
    return read_sweep(str(path)).specification(
        SweepRequest(file=str(path)), builtin(), HOST, lambda _: True
    )


def spaced(folder: Path, text: str, *settings: str) -> Space:
    path = folder / "space.toml"
    path.write_text(text)
    return resolve_space(settings, str(path), (), builtin(), HOST)


def test_cells_of_a_sweep_have_the_names_and_settings_of_all_scopes(tmp_path: Path) -> None:
    spec = swept(tmp_path, FILE)
    assert [(arm.name, dict(arm.configuration)) for arm in spec.arms] == [
        ("default", {}),
        ("A", {"boot.nohz_full": "1-3", "malloc": "glibc", "nice": 0}),
        ("mOS", {"boot.kernel": "5.6.0-mos", "malloc": "tcmalloc"}),
    ]


def test_a_configuration_may_be_the_baseline(tmp_path: Path) -> None:
    spec = swept(tmp_path, f'{FILE}[design]\nbaseline = "mOS"\n')
    assert [arm.name for arm in spec.arms] == ["mOS", "A"]
    beside = f'{FILE}[settings]\nsched = ["other", "batch"]\n[design]\n'
    spec = swept(tmp_path, f'{beside}baseline = {{ configuration = "A", sched = "batch" }}\n')
    names = ["A sched=batch", "A sched=other", "mOS sched=other", "mOS sched=batch"]
    assert [arm.name for arm in spec.arms] == names


@pytest.mark.parametrize(
    ("text", "place", "told", "remedy"),
    [
        ("[configuration.A]\nthraeds = 4\n", "4:1", "'thraeds'", "threads?"),
        ("[configuration.A]\nmalloc = 'jemaloc'\n", "4:1", "'jemaloc'", "jemalloc?"),
        ("[configuration.A]\nthreads = [1, 2]\n", "4:1", "Invalid value: [1, 2]", ""),
        (
            "[configuration.default]\nnice = 1\n",
            "3:16",
            "name of the default configuration",
            "another name",
        ),
        (
            "[configuration.'a b']\nnice = 1\n",
            "3:16",
            "invalid name of a configuration: 'a b'",
            "letters",
        ),
        ("[configuration.A]\n", "3:16", "is empty, and so the same as the default", ""),
        (
            "[configuration.A]\nnice = 1\n[configuration.A]\nnice = 2\n",
            "5:17",
            "this table is defined twice",
            "below one header",
        ),
        (
            "[configuration.A]\nnice = 1\n[configuration.B]\nnice = 1\n",
            "5:16",
            "equals configuration.A",
            "one of them",
        ),
        (
            "[settings]\nnice = [0, 1]\n[configuration.A]\nnice = 1\n",
            "6:1",
            "varied under [settings] as well",
            "one place",
        ),
        ("[configuration]\nA = 3\n", "4:1", "configuration.A cannot be 3", ""),
        (
            f"{FILE}[design]\nbaseline = 'mos'\n",
            "12:1",
            "unknown configuration 'mos'",
            "are A, mOS",
        ),
        (
            f"{FILE}[design]\nkind = 'factorial'\n",
            "12:1",
            "does not support named configurations",
            "Remove kind",
        ),
        (
            "[configuration.A]\nboot.kernel = 'vmlinuz'\n",
            "4:6",
            "Invalid release of a kernel",
            "uname -r",
        ),
    ],
)
def test_wrong_tables_are_refused_with_their_place(
    tmp_path: Path, text: str, place: str, told: str, remedy: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        swept(tmp_path, text)
    cause = refused.value.cause
    assert cause.startswith(f"{tmp_path / 'sweep.toml'}:{place}: "), cause
    assert told in cause
    assert remedy in (refused.value.remedy or "")


def test_a_search_tries_the_named_ones_and_no_mixture(tmp_path: Path) -> None:
    found = spaced(tmp_path, FILE, "sched=other,batch")
    space = make_search_space(found)
    every = space.enumerate(100)
    assert every is not None
    named = {one.configuration for one in found.named_configurations}
    own = {name for one in named for name in one}
    assert {c.without("sched") for c in every} == {DEFAULT, *map(space.canonical, named)}
    assert len(every) == 9  # left alone, other, batch beside each of three
    rng = random.Random(1)
    drawn = {space.draw(rng) for _ in range(100)}
    assert drawn == set(every)
    mixed = Configuration({"boot.nohz_full": "1-3", "malloc": "tcmalloc"})
    assert not space.valid(mixed)
    assert space.repair(mixed, rng) in every
    part = Configuration({"boot.nohz_full": "1-3"})
    assert space.valid(part)
    for near in space.neighbours(every[1]):
        assert near in every
    assert own == {"boot.nohz_full", "malloc", "nice", "boot.kernel"}
    assert list(describe_named(found))[:2] == [
        f"{one.name}: {one.configuration}" for one in found.named_configurations
    ]


def test_names_stand_for_whole_configurations_alone(tmp_path: Path) -> None:
    space = spaced(tmp_path, FILE, "sched=other,batch")
    [a, mos] = space.named_configurations
    assert label_of(space, a.configuration) == "A"
    assert label_of(space, mos.configuration.having("sched", "batch")) == "mOS sched=batch"
    assert label_of(space, mos.configuration.without("malloc")) is None
    assert label_of(space, a.configuration.having("boot.kernel", "5.6.0-mos")) is None
    assert label_of(space, DEFAULT) is None
    # A search leaves out a setting at its default, and the name stays.
    canonical = make_search_space(space).canonical(a.configuration)
    assert label_of(space, canonical) == "A"


def test_arms_are_named_in_words(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text(FILE)
    named = named_in_file(str(tmp_path / "space.toml"), builtin(), HOST)

    def read(text: str) -> tuple[str, dict[str, object]]:
        arm = arm_of(text, named, builtin(), HOST)
        return arm.name, dict(arm.configuration)

    whole = dict(named[1].configuration)
    assert read("mOS") == ("mOS", whole)
    assert read("mOS nice=5") == ("mOS nice=5", {**whole, "nice": 5})
    assert read("nice=5") == ("nice=5", {"nice": 5})
    with pytest.raises(InvalidInputError, match="unknown configuration 'mos'") as refused:
        read("mos")
    assert refused.value.remedy == "Write one of A, mOS."
    with pytest.raises(InvalidInputError, match="two configurations"):
        read("A mOS")
    assert named_in_file(None, builtin(), HOST) == ()


def test_default_is_an_arm() -> None:
    for text in ("default", ""):
        assert arm_of(text, (), builtin(), HOST) == Arm(name="default", configuration=DEFAULT)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "names no configurations"),
        (f"{FILE}[settings]\nsched = ['other', 'batch']\n", "varies"),
    ],
)
def test_a_comparison_takes_configurations_alone(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "space.toml").write_text(text)
    with pytest.raises(InvalidInputError, match=told):
        named_in_file(str(tmp_path / "space.toml"), builtin(), HOST)


def a_search() -> tuple[StudySpec, Conclusion, Sample]:
    spec = StudySpec(
        kind=Kind.TUNE,
        workload=Workload(argv=("true",)),
        budget=Budget(launches=9),
        space=Space(
            parameters=(Parameter(name="nice", domain=Choices((5, 6))),),
            named_configurations=(
                NamedConfiguration(name="B", configuration=Configuration({"nice": 5, "x": 1})),
                NamedConfiguration(name="A", configuration=Configuration({"nice": 5})),
            ),
        ),
    )
    a, b = (Configuration({"nice": 5}), Configuration({"nice": 5, "x": 1}))
    claim = Claim(
        metric="wall_s",
        a="default",
        b=str(a),
        ratio=0.5,
        ci=(0.4, 0.6),
        blocks=8,
        margin=0.01,
        alpha=0.05,
        method="paired",
        verdict=Verdict.FASTER,
    )
    conclusion = Conclusion(
        kind=Kind.TUNE,
        metric="wall_s",
        arms=tuple(
            ArmResult(name=str(one), configuration=one, summary={}) for one in (DEFAULT, a, b)
        ),
        claims=(claim,),
        recommendation=Recommendation(
            settings=a,
            script="run nice=5",
            sentence="nice=5 takes less; nice=5 x=1 and nice=5 y=1 do not: keep nice=5.",
        ),
    )
    launch = Launch(configuration=b, arm=str(b), stage=Stage.SEARCH, block=0, position=0)
    return spec, conclusion, Sample(launch=launch, outcome=Outcome.OK)


def test_a_search_is_shown_with_the_names() -> None:
    spec, conclusion, sample = a_search()
    shown = label_conclusion(spec, conclusion)
    assert [arm.name for arm in shown.arms] == ["default", "A", "B"]
    assert [arm.configuration for arm in shown.arms] == [a.configuration for a in conclusion.arms]
    assert [claim.b for claim in shown.claims] == ["A"]
    assert shown.recommendation is not None
    assert shown.recommendation.sentence == "A takes less; B and nice=5 y=1 do not: keep A."
    assert shown.recommendation.script == "run nice=5"
    assert shown.recommendation.settings == Configuration({"nice": 5})
    assert label_samples(spec, [sample])[0].launch.arm == "B"


def test_cells_are_listed_by_name(tmp_path: Path) -> None:
    spec = swept(tmp_path, FILE)
    arms = (ArmResult(name=a.name, configuration=a.configuration, summary={}) for a in spec.arms)
    lines = list(cell_lines(Conclusion(kind=Kind.SWEEP, metric="wall_s", arms=tuple(arms)), spec))
    assert [line.split()[0] for line in lines] == ["configuration", "default", "A", "mOS"]
