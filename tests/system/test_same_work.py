"""Arms that may do different work: real programs, from a tune to a run of its answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

PROGRAM = """#!/bin/sh
case $1 in
  slow) sleep 0.15; echo "mode $1: result 3.14159265" ;;
  fast) sleep 0.03; echo "mode $1: result 3.14159301" ;;
  *) echo "usage: p slow|fast" ;;
esac
"""


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "p"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return str(path)


@pytest.mark.rotating
def test_value_with_a_usage_message_is_unproven_until_outputs_may_differ(
    cli: CommandLine, program: str
) -> None:
    words = ("arg.mode=slow,bogus", "--runs", "24", "--disturbed-above", "never")
    answer = cli("tune", *words, "--json", "--", program, "{mode}")
    assert answer.status == 0, answer.err
    found = answer.document["recommendation"]
    assert found["settings"] == {"arg.mode": "bogus"}
    assert found["status"] == "unproven"
    assert "wrote 19 bytes, beginning with 'usage: p " in found["output_difference"]
    refused = cli("run", "--from", "last", "--unproven")
    assert refused.status == 125
    assert "--outputs-may-differ runs it anyway" in refused.err
    ran = cli("run", "--from", "last", "--unproven", "--outputs-may-differ")
    assert ran.out == "usage: p slow|fast\n"


@pytest.mark.rotating
def test_search_recommends_best_equivalent_arm_and_names_others(
    cli: CommandLine, program: str
) -> None:
    words = ("tune", "arg.mode=slow,fast,bogus", "--runs", "60", "--disturbed-above", "never")
    answer = cli(*words, "--json", "--", program, "{mode}")
    assert answer.status == 0, answer.err
    found = answer.document
    assert found["recommendation"]["settings"] == {"arg.mode": "fast"}
    assert found["recommendation"]["status"] == "proven"
    (note,) = (n for n in found["notes"] if n.startswith("different output: "))
    assert "arg.mode=bogus wrote 19 bytes, beginning with 'usage: p " in note
    assert "it counts as failed" in note
    assert "--outputs-may-differ" in note
    shown = cli("study", "show", "last")
    assert "arg.mode=bogus wrote 19 bytes" in " ".join(shown.out.split())
    answer = cli(*words, "--json", "--outputs-may-differ", "--", program, "{mode}")
    assert answer.document["recommendation"]["settings"] == {"arg.mode": "bogus"}


@pytest.mark.rotating
def test_values_that_print_themselves_and_rounded_results_are_compared(
    cli: CommandLine, program: str
) -> None:
    words = ("--runs", "40", "--disturbed-above", "never", "--json")
    arms = ("--arm", "arg.mode=slow", "--arm", "arg.mode=fast")
    found = cli("compare", *words, *arms, "--", program, "{mode}").document["claims"][0]
    assert found["verdict"] == "faster"
    assert "data_problem" not in found


@pytest.mark.rotating
def test_commands_with_different_output_get_verdict_only_on_request(
    cli: CommandLine, program: str
) -> None:
    words = ("compare", "--runs", "24", "--disturbed-above", "never", "--json")
    arms = ("--arm", "arg.mode=slow", "--arm", "arg.mode=bogus")
    claim = cli(*words, *arms, "--", program, "{mode}").document["claims"][0]
    assert claim["verdict"] == "unclear"
    assert claim["data_problem"].startswith("different output: ")
    answer = cli(*words, "--outputs-may-differ", *arms, "--", program, "{mode}")
    assert answer.document["claims"][0]["verdict"] == "faster"


@pytest.mark.rotating
def test_usage_message_on_standard_error_counts_as_failure(
    cli: CommandLine, tmp_path: Path
) -> None:
    """The result goes to a file, and standard output shows the time of day."""
    script = (
        f"date +%s.%N; case $0 in bogus) echo 'usage: p slow|fast' >&2;;"
        f" fast) sleep 0.05; echo 1 >{tmp_path}/out;; *) sleep 0.2; echo 1 >{tmp_path}/out;; esac"
    )
    words = ("tune", "arg.mode=slow,fast,bogus", "--runs", "40", "--disturbed-above", "never")
    answer = cli(*words, "--json", "--", "sh", "-c", script, "{mode}")
    assert answer.status == 0, answer.err
    assert answer.document["recommendation"]["settings"] == {"arg.mode": "fast"}
    (note,) = (n for n in answer.document["notes"] if n.startswith("reported error: "))
    assert "of arg.mode=bogus report one, beginning with 'usage: p " in note


@pytest.mark.rotating
def test_printed_options_and_settings_count_as_same_work(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "q"
    cpus = "$(taskset -cp $$ | sed 's,.*: ,,')"
    path.write_text(f"#!/bin/sh\necho MODE ${{1#--mode=}} $(nice) on CPUs {cpus}\necho 12")
    path.chmod(0o755)
    words = ("compare", "--runs", "14", "--disturbed-above", "never", "--json")
    result = [
        cli(*words, f"{path} --mode=a", f"{path} --mode=b"),
        cli(*words, "--arm", "nice=5", "--arm", "", "--", str(path)),
        cli(*words, "--arm", "cpus=1", "--arm", "", "--", str(path)),
    ]
    for answer in result:
        assert answer.status == 0, answer.err
        assert "different output" not in str(answer.document["claims"])


@pytest.mark.rotating
def test_pipeline_whose_first_command_crashes_fails(cli: CommandLine) -> None:
    crashing = "sh -c 'kill -SEGV $$' | cat"
    answer = cli("measure", "--shell", "--runs", "3", "--", crashing)
    assert answer.status == 1
    assert "139" in answer.err
    assert cli("measure", "--shell", "--runs", "3", "--", "yes | head -1").status == 0
