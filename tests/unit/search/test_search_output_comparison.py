"""Comparison of the outputs of two arms, and its consequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest
from simulated_studies import Study, Writing, compare, space_of, tune

from assay.executors.evidence.same_work import output_evidence
from assay.records import (
    Arm,
    Budget,
    Configuration,
    Launch,
    Outcome,
    Output,
    Parameter,
    Plan,
    Range,
    Sample,
    Space,
    Verdict,
)
from assay.search.history.output_comparison import (
    ObservedOutputs,
    describe_difference,
    output_digest,
    values_of,
    without_lines,
)
from assay.settings.printed_values import printed_values
from assay.wording.objections import without_quote


def _seen(samples: Iterable[Sample]) -> ObservedOutputs:
    seen = ObservedOutputs()
    for sample in samples:
        seen.add(sample)
    return seen


def _speeds(configuration: object) -> float:
    return 0.5 if configuration else 1.0


def _compared(writes: Callable[[Launch], str], launches: int = 40) -> Study:
    program = Writing(takes_s=_speeds, writes=writes)
    return compare(program, Budget(launches=launches), {}, {"nice": 5})


def _bogus(launch: Launch) -> str:
    return "usage: p" if launch.configuration else "result 3.14\n"


def test_arm_with_different_output_has_no_verdict() -> None:
    study = _compared(_bogus)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.UNCLEAR
    assert study.claim.data_problem is not None
    assert "wrote 8 bytes, beginning with 'usage: p'" in study.claim.data_problem
    assert "12 bytes, beginning with 'result 3.14'" in study.claim.data_problem


@pytest.mark.parametrize(
    "writes",
    [
        lambda launch: "result 3.14",
        lambda launch: f"took {launch.block}.{launch.position}1 s",  # varies within each arm
        lambda launch: f"pid {launch.block}" if launch.configuration else "no pid",
    ],
)
def test_arms_with_equal_or_varying_output_have_a_verdict(
    writes: Callable[[Launch], str],
) -> None:
    study = _compared(writes)
    assert study.claim is not None
    assert study.claim.verdict is Verdict.FASTER


def test_outputs_may_differ_option_allows_different_output() -> None:
    study = _compared(_bogus)
    workload = msgspec.structs.replace(study.spec.workload, outputs_may_differ=True)
    spec = msgspec.structs.replace(study.spec, workload=workload)
    names = [arm.name for arm in spec.arms]
    assert describe_difference(study.spec, _seen(study.samples), names) is not None
    assert describe_difference(spec, _seen(study.samples), names) is None


def test_check_option_defines_valid_output() -> None:
    study = _compared(_bogus)
    workload = msgspec.structs.replace(study.spec.workload, check="result|usage")
    spec = msgspec.structs.replace(study.spec, workload=workload)
    names = [arm.name for arm in spec.arms]
    assert describe_difference(spec, _seen(study.samples), names) is None


def test_single_launch_shows_no_difference_in_numbers() -> None:
    """A time of day differs between launches, but not within a minute."""
    for other, differs in (("at 10:02", False), ("usage: p", True)):
        study = _compared(lambda launch, o=other: o if launch.configuration else "at 10:01")  # type: ignore[misc]
        names = [arm.name for arm in study.spec.arms]
        once = next(s for s in study.samples if s.launch.arm == names[1])
        samples = [s for s in study.samples if s.launch.arm == names[0]] + [once]
        assert (describe_difference(study.spec, _seen(samples), names) is not None) == differs


def test_one_launch_of_each_arm_shows_no_difference() -> None:
    study = _compared(_bogus)
    names = [arm.name for arm in study.spec.arms]
    once = [next(s for s in study.samples if s.launch.arm == name) for name in names]
    assert describe_difference(study.spec, _seen(once), names) is None
    assert describe_difference(study.spec, _seen(study.samples), names) is not None


def test_launch_that_failed_does_not_make_an_output_vary() -> None:
    study = _compared(_bogus)
    names = [arm.name for arm in study.spec.arms]
    last = study.samples[-1]
    bad = Writing(takes_s=_speeds, writes=lambda launch: "Traceback").run(last.launch)
    bad = msgspec.structs.replace(bad, outcome=Outcome.FAILED)
    assert describe_difference(study.spec, _seen([*study.samples, bad]), names) is not None


def test_recommendation_with_different_output_is_unproven() -> None:
    program = Writing(takes_s=_speeds, writes=_bogus)
    study = tune(space_of(nice=(0, 5)), program, Budget(launches=40))
    found = study.conclusion.recommendation
    assert found is not None
    assert found.unproven
    assert found.output_difference is not None
    assert "not proven. Reason: different output: nice=" in found.sentence


def test_sample_without_lines_is_compared_alike_and_holds_no_text() -> None:
    study = _compared(_bogus)
    bare = [without_lines(sample) for sample in study.samples]
    names = [arm.name for arm in study.spec.arms]
    assert "usage" not in str(bare)
    told = describe_difference(study.spec, _seen(study.samples), names)
    assert told is not None and "usage" in told
    assert describe_difference(study.spec, _seen(bare), names) == without_quote(told)
    first, kept = output_digest(study.samples[0]), output_digest(bare[0])
    assert first is not None and kept is not None
    assert first.digest == kept.digest


@pytest.mark.parametrize("last", ["1", "3"])
def test_long_output_is_compared_beside_a_variable_of_one_arm(last: str) -> None:
    """The variable of an arm has a number as its value, which results contain too."""
    study = _compared(lambda launch: "")
    first, second = (arm.name for arm in study.spec.arms)
    samples = []
    for sample in study.samples:
        rows = [f"row {number} 1 {7 * number}" for number in range(300)]
        rows += ["end 1" if sample.launch.arm == first else f"end {last}"]
        content = "\n".join(rows).encode()
        output = Output(stream="stdout", size_bytes=len(content), sha256="", head=content)
        own = () if sample.launch.arm == first else ("5", "1")
        evidence = (output_evidence(output, ("5",), own=own),)
        samples.append(msgspec.structs.replace(sample, evidence=evidence))
    assert _seen(samples).agree((first, second)) is (last == "1")
    assert _seen(map(without_lines, samples)).agree((first, second)) is (last == "1")


def test_numbers_are_not_compared_where_a_setting_has_any_number_as_its_value() -> None:
    """Not all values can be removed from an output then."""
    study = _compared(lambda launch: "step 8" if launch.configuration else "step 4")
    names = [arm.name for arm in study.spec.arms]
    assert describe_difference(study.spec, _seen(study.samples), names) is not None
    anything = Parameter(name="arg.x", domain=Range(0.0, 1.0, integer=False))
    spec = msgspec.structs.replace(study.spec, space=Space(parameters=(anything,)))
    assert describe_difference(spec, _seen(study.samples), names) is None


PGBENCH = """\
transaction type: <builtin: select only>
scaling factor: 1
query mode: {mode}
number of clients: 1
number of threads: 1
number of transactions per client: 100
number of transactions actually processed: 100/100
number of failed transactions: 0 (0.000%)
latency average = 0.0{ms} ms
tps = {ms}12.5 (without initial connection time)
"""
OPENSSL = """\
version: 3.0.17
The 'numbers' are in 1000s of bytes per second processed.
type           1024 bytes
{cipher}   {k}.66k
"""


@pytest.mark.parametrize(
    ("commands", "texts", "pattern"),
    [
        (
            ("pgbench -S", "pgbench -S -M prepared"),
            (PGBENCH.format(mode="simple", ms=3), PGBENCH.format(mode="prepared", ms=2)),
            r"tps = ([0-9.]+)",
        ),
        (
            ("openssl speed -evp aes-128-cbc", "openssl speed -evp aes-256-cbc"),
            (
                OPENSSL.format(cipher="AES-128-CBC", k=1234),
                OPENSSL.format(cipher="AES-256-CBC", k=987),
            ),
            r"([0-9.]+)k$",
        ),
        (
            ("hyperfine -N true", "hyperfine -N 'sleep 0.01'"),
            ("Benchmark 1: true\n", "Benchmark 1: sleep 0.01\n"),
            "nothing",
        ),
        (
            ("zstd -b1 s.txt", "zstd -b3 s.txt"),
            (" 1#s : 9 ->\r1#\n", " 3#s : 7 ->\r3#\n"),
            "nothing",
        ),
        (("wc -l big.txt", "wc -l s.txt"), ("10 big.txt\n", "10 s.txt\n"), "nothing"),
        (
            ("q --mode=fast 2", "q --mode=safe 4"),
            ("mode: fast\nok 7", "mode: safe\nok 7"),
            "nothing",
        ),
    ],
    ids=["pgbench", "openssl", "hyperfine", "zstd", "wc", "option"],
)
def test_tools_that_print_their_own_options_do_the_same_work(
    commands: tuple[str, str], texts: tuple[str, str], pattern: str
) -> None:
    assert _agree(commands, texts, pattern) is True


@pytest.mark.parametrize(
    "text",
    ["usage: q fast|safe", "mode: safe", "mode: safe\nsum 12346", "sum 12345", ""],
    ids=["usage", "truncated", "checksum", "line", "nothing"],
)
def test_command_with_different_work_is_detected(text: str) -> None:
    commands = "q --mode=fast", "q --mode=safe"
    assert _agree(commands, ("mode: fast\nsum 12345", text), "nothing") is False


def _agree(commands: tuple[str, str], texts: tuple[str, str], pattern: str) -> bool | None:
    """Return whether two launches each of two commands, with these outputs, do the same work."""
    study = _compared(_bogus)
    arms = [Arm(name=one, configuration=Configuration({"command": one})) for one in commands]
    values = values_of(msgspec.structs.replace(study.spec, arms=tuple(arms)))
    seen = ObservedOutputs()
    for arm, text in zip(arms, texts, strict=True):
        content = text.encode()
        output = Output(stream="stdout", size_bytes=len(content), sha256="", head=content)
        own = printed_values(arm.configuration, Plan(configuration=arm.configuration), values)
        evidence = (output_evidence(output, values, [pattern], own),)
        launch = msgspec.structs.replace(study.samples[0].launch, arm=arm.name)
        sample = msgspec.structs.replace(study.samples[0], launch=launch, evidence=evidence)
        seen.add(sample)
        seen.add(sample)
    return seen.agree(commands)


def test_default_that_prints_its_own_value_does_the_same_work() -> None:
    for text, agrees in (("niceness 0\nok", True), ("niceness 0\nusage: p", False)):
        study = _compared(_bogus)
        names = [arm.name for arm in study.spec.arms]
        seen = ObservedOutputs()
        for sample in study.samples:
            varied = bool(sample.launch.configuration)
            content = (b"niceness 5\nok", text.encode())[not varied]
            output = Output(stream="stdout", size_bytes=len(content), sha256="", head=content)
            piece = output_evidence(output, {"5"}, (), {"5"} if varied else ())
            seen.add(msgspec.structs.replace(sample, evidence=(piece,)))
        assert seen.agree(names) is agrees


def test_line_that_differs_within_an_output_is_named_by_its_number() -> None:
    study = _compared(lambda launch: f"begin\nrows {9 if launch.configuration else 17}\nend")
    assert study.claim is not None and study.claim.data_problem is not None
    assert "wrote 16 bytes with another line 2, and" in study.claim.data_problem
    assert "line 2" not in without_quote(study.claim.data_problem)


def test_values_of_ranges_are_taken_out() -> None:
    counted = Parameter(name="arg.n", domain=Range(1, 9, step=4))
    study = _compared(_bogus)
    spec = msgspec.structs.replace(study.spec, arms=(), space=Space(parameters=(counted,)))
    assert values_of(spec) == {"1", "5", "9"}
