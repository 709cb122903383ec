"""The catalogue on the command line: its cases are listed, shown and run."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from command_line import CommandLine

from rotation import rows_in_turns

pytestmark = pytest.mark.system


@pytest.fixture
def cli(tmp_path: Path, assay_exec: Path, assay_kernels: tuple[Path, ...]) -> CommandLine:
    assert assay_kernels[0].parent == assay_exec.parent
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
def test_list_and_show_contain_every_case(
    cli: CommandLine, assay_kernels: tuple[Path, ...]
) -> None:
    names = [path.name.removeprefix("assay-kernel-") for path in assay_kernels]
    assert [one["name"] for one in cli("case", "list", "--json").document["cases"]] == names
    listed = cli("case", "list").out
    for name in names:
        assert f"{name} " in listed
    shown = cli("case", "show", "horner", "n=1001", "degree=9")
    assert "degree=9" in shown.out and "n=1001" in shown.out and "broken" not in shown.out


@pytest.mark.rotating
def test_run_reports_steps_and_roofs(cli: CommandLine, tmp_path: Path) -> None:
    picture = tmp_path / "roof.svg"
    done = cli(
        *("case", "run", "horner", "degree=64", "--size", "tiny", "--variant", "powers"),
        *("--variant", "horner", "--runs", "14", "--disturbed-above", "never", "--json"),
        *("-o", str(picture)),
    )
    assert done.status == 0, done.err
    found = done.document
    first, second = found["steps"]
    assert first["variant"] == "powers" and "parent" not in first
    assert second["parent"] == "powers"
    assert second["claim"]["a"] == "powers" and second["claim"]["b"] == "horner"
    # pow() takes tens of times as long as a multiplication and an addition.
    assert second["claim"]["verdict"] == "faster"
    assert second["median_s"] < first["median_s"]
    assert all(rate > 0 for rate in found["roofs"].values())
    assert {one["value"] for one in found["published"]} == {
        "128-256",
        "256-512",
        "2 * degree / element size",
    }
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    study = cli("study", "show", found["study"], "--json").document
    assert study["spec"]["kind"] == "compare"


@pytest.mark.rotating
def test_quality_has_a_column(cli: CommandLine) -> None:
    """A variant that compresses is slower than copying, and its output is smaller."""
    words = (
        *("case", "run", "deflate", "--size", "tiny", "--variant", "stored", "--variant", "fixed"),
        *("--runs", "14", "--disturbed-above", "never"),
    )
    done = cli(*words, "--json")
    assert done.status == 0, done.err
    stored, fixed = (step["figures"]["ratio"] for step in done.document["steps"])
    assert fixed < 0.8 < 1.0 < stored < 1.01
    assert [
        one["name"] for one in cli("case", "show", "deflate", "--json").document["figures"]
    ] == ["ratio"]
    assert "compressed size relative to the text" in cli("case", "show", "deflate").out
    assert "  ratio  of the roof" in cli(*words).out


@pytest.mark.rotating
def test_program_of_a_case_can_be_measured(
    cli: CommandLine, assay_kernels: tuple[Path, ...]
) -> None:
    program = cli("case", "show", "bandwidth", "--json").document["program"]
    done = cli(
        *("measure", "--runs", "4", "--json", "--metric"),
        'repetition_s="median_s":([0-9.e-]+)',
        *("--", program, "--variant", "plain", "--size", "tiny", "--seconds", "0.01"),
    )
    assert done.status == 0, done.err
    assert done.document["samples"][0]["metrics"]["repetition_s"] > 0


@pytest.mark.rotating
def test_wrong_result_is_a_failed_launch(cli: CommandLine, assay_kernels: tuple[Path, ...]) -> None:
    program = cli("case", "show", "horner", "--json").document["program"]
    done = cli("measure", "--runs", "4", "--", program, "--variant", "broken-tail")
    assert done.status == 1, done.out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    rows_in_turns(
        (("list", "horner"), 2, "takes no name"),
        (("list", "--size", "L2"), 2, "takes no --size"),
        (("show",), 2, "needs the name of a case"),
        (("show", "hornet"), 2, "Did you mean horner?"),
        (("show", "horner", "degree"), 2, "Invalid parameter"),
        (("show", "horner", "degree=0"), 2, "from 1"),
        (("show", "horner", "what=1"), 2, "unknown option --what"),
        (("show", "horner", "--size", "huge"), 2, "unknown size 'huge'"),
        (("show", "horner", "--threads", "0"), 2, "from 1"),
        (("show", "horner", "n=99999999999"), 2, "are available"),
        (("show", "horner", "--variant", "vectors-avx2"), 2, "takes no --variant"),
        (("run", "horner", "--variant", "vectors-avx3"), 2, "Did you mean"),
        (("run", "horner", "--variant", "broken-tail"), 2, "wrong on purpose"),
        (("run", "horner", "--variant", "horner"), 3, "Name two"),
        (("run", "horner", "-o", "roof.doc"), 2, "unknown suffix"),
        (("fly", "horner"), 2, "fly"),
    ),
)
def test_invalid_arguments_are_reported(
    cli: CommandLine,
    assay_kernels: tuple[Path, ...],
    words: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    done = cli("case", *words)
    assert done.status == status and message in done.err, (done.status, done.err)
    assert "Traceback" not in done.err and not done.out


@pytest.mark.rotating
def test_finished_case_resumes_without_changes(cli: CommandLine) -> None:
    """The program is the same for all arguments of its arms."""
    words = ("case", "run", "horner", "--size", "tiny", "--variant", "powers")
    words = (*words, "--variant", "horner", "--disturbed-above", "never")
    done = cli(*words, "--runs", "14")
    assert done.status == 0, done.err
    again = cli("study", "resume", "last", "--json")
    assert again.status == 0, again.err
    assert not [note for note in again.document["notes"] if "changed" in note]


@pytest.mark.rotating
@pytest.mark.parametrize("words", [("--size", "0"), ("n=0",)])
def test_empty_data_are_refused(cli: CommandLine, words: tuple[str, ...]) -> None:
    done = cli("case", "run", "horner", *words)
    assert done.status == 2 and "no data" in done.err and not done.out


@pytest.mark.rotating
@pytest.mark.parametrize("verb", ["run", "show"])
def test_more_threads_than_cpus_are_refused(
    cli: CommandLine, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "10000" in cli("case", verb, "horner", "--threads", "10000").err
    monkeypatch.setenv("OMP_NUM_THREADS", "10000")
    done = cli("case", verb, "horner")
    assert done.status == 2 and "OMP_NUM_THREADS=10000" in done.err
