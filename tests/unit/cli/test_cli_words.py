"""Parsing of words into workloads, spaces and configurations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.api.options.assigned import configuration_of
from assay.api.options.command_words import command_of, split_command
from assay.api.options.missing import demand_found
from assay.api.options.study_options import resolve_space
from assay.api.options.workload import resolve_workload
from assay.cli.arguments.tune import tune_request
from assay.cli.export import _replaced_names
from assay.cli.main import main
from assay.cli.parsing.parser import parse
from assay.errors import InvalidInputError
from assay.machine.document import Cpu, Machine, Node, Rights
from assay.records import Budget, Choices, Configuration, Goal, Range, Space, Workload
from assay.requests.tune import TuneRequest
from assay.settings.registry import builtin

MACHINE = Machine(
    arch="x86_64",
    kernel="6.1.0",
    kernel_version=(6, 1),
    model="test",
    cpus=tuple(Cpu(id=i, core=i, siblings=(i,)) for i in range(4)),
    allowed_cpus=(0, 1, 2, 3),
    nodes=(Node(id=0, cpus=(0, 1, 2, 3), memory_bytes=2**33),),
    rights=Rights(uid=0),
)


def tune(*words: str, command: tuple[str, ...] = ("./app", "{size}")) -> TuneRequest:
    return tune_request(parse(["tune", *words, "--", *command]))


def space_of(request: TuneRequest) -> Space:
    return resolve_space(
        request.settings, request.space_file, request.constraints, builtin(), MACHINE
    )


def workload_of(request: TuneRequest) -> Workload:
    return resolve_workload(request.workload, space_of(request).parameters)


def bad(words: list[str], match: str, remedy: str = "") -> None:
    """Words of ``tune`` are refused with a remedy."""
    with pytest.raises(InvalidInputError, match=match) as caught:
        workload_of(tune(*words))
    assert remedy in (caught.value.remedy or "")
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("xz -T1 -k f", ("xz", "-T1", "-k", "f")),
        ("grep 'a|b' f", ("grep", "a|b", "f")),
        ("grep '|' f", ("grep", "|", "f")),
        (r"echo a\;b \> c", ("echo", "a;b", ">", "c")),
        ('echo "a & b" "c\\"|"', ("echo", "a & b", 'c"|')),
        ("echo $HOME `x` *", ("echo", "$HOME", "`x`", "*")),
        ("echo ''", ("echo", "")),
    ],
)
def test_a_command_is_split_as_posix_words(text: str, words: tuple[str, ...]) -> None:
    assert split_command(text, shell=False) == words


@pytest.mark.parametrize(
    "text", ["a | b", "a|b", "a > f", "a < f", "a; b", "a & b", "a 2>&1", "a &&b"]
)
def test_shell_syntax_offers_a_shell(text: str) -> None:
    with pytest.raises(InvalidInputError, match="unquoted") as caught:
        split_command(text, shell=False)
    assert "--shell" in str(caught.value.remedy)
    words = split_command(text, shell=True)
    assert Path(words[0]).name == "bash"
    assert words[-1].endswith(text)


@pytest.mark.parametrize("text", ["a 'b", 'a "b', "a \\"])
def test_open_quotes(text: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be split"):
        split_command(text, shell=False)


def test_empty_commands() -> None:
    for text in ("", "  "):
        with pytest.raises(InvalidInputError, match="The command is missing"):
            split_command(text, shell=False)
    for command in ((), ("",)):
        with pytest.raises(InvalidInputError, match="The command is missing"):
            command_of(command, separated=True, shell=False)
    with pytest.raises(InvalidInputError, match="The command is missing"):
        command_of(("true",), separated=False, shell=False)


def test_a_shell_reads_one_text() -> None:
    """Joined, ``bash -c 'sleep 0.3; true'`` would sleep no time."""
    text = "sleep 0.3; true"
    words = command_of((text,), separated=True, shell=True)
    assert words[1:] == ("-o", "pipefail", "-c", text)


def test_shell_is_sh_without_bash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert command_of(("a | b",), separated=True, shell=True) == ("/bin/sh", "-c", "a | b")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("yes | head -1", 0),  # the reader has ended: SIGPIPE does not count as a failure
        ("true | true", 0),
        ("false | cat", 1),
        ("sh -c 'kill -SEGV $$' | cat", 139),
        ("sh -c 'kill -SEGV $$' | yes | head -1", 139),
        ("echo 'a | b'", 0),
        ("exit 3", 3),
        ("true | sh -c 'exit 4'", 4),
        ("yes | head -1 && echo on", 141),  # the next command depends on the status
        ("set -e; yes | head -1; echo on", 141),
        ("false | true; exit 0", 0),
        ("yes 2>&1 | head -1", 0),
    ],
)
def test_pipeline_under_shell_fails_with_any_of_its_commands(text: str, status: int) -> None:
    done = subprocess.run(
        command_of((text,), separated=True, shell=True), capture_output=True, check=False
    )
    assert done.returncode == status
    with pytest.raises(InvalidInputError, match="one text, and these are 3 words"):
        command_of(("bash", "-c", text), separated=True, shell=True)


def test_a_command_that_is_one_text_by_mistake() -> None:
    with pytest.raises(InvalidInputError, match="not found") as caught:
        demand_found(None, "sleep 1 | cat")
    assert "--shell" in str(caught.value.remedy)
    with pytest.raises(InvalidInputError, match="not found") as caught:
        demand_found(None, "slep")
    assert "PATH" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "words",
    [
        ["nice=0,5", "--runs", "9", "malloc=glibc,jemalloc"],
        ["--runs", "9", "nice=0,5", "malloc=glibc,jemalloc"],
        ["nice=0,5", "malloc=glibc,jemalloc", "--runs", "9"],
        ["nice=0,5", "--runs=9", "malloc=glibc,jemalloc", "-q"],
    ],
)
def test_settings_may_stand_between_options(words: list[str]) -> None:
    request = tune(*words)
    assert request.settings == ("nice=0,5", "malloc=glibc,jemalloc")
    assert request.budget == Budget(launches=9)


@pytest.mark.parametrize("words", [["--bogus"], ["nice=0", "--bogus", "5"], ["--budgets", "3s"]])
def test_unknown_options_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["tune", *words, "--", "true"])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert "unknown option --b" in said
    assert said.startswith("usage: assay tune")
    assert ("did you mean --budget?" in said) == ("--budgets" in words)


@pytest.mark.parametrize("option", ["--grace", "--budget"])
def test_options_of_other_verbs_are_no_slips(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", option, "1s", "--", "true"])
    said = capsys.readouterr().err
    assert f"unknown option {option}" in said and "did you mean" not in said


def test_commands_behind_two_dashes_are_told_to_stand_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", "--", "./one x", "./two"]) == 2
    said = capsys.readouterr().err
    assert "Leave -- out" in said and "Quote each" not in said


@pytest.mark.parametrize("words", [["--bogus"], ["--from"], ["--record"]])
def test_a_wrong_line_of_run_has_its_own_status(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", *words, "--", "true"])
    assert caught.value.code == 125


def test_the_words_behind_the_dashes_are_the_programs_own() -> None:
    parsed = parse(["tune", "nice=0,5", "--", "./app", "--budget", "--", "x"])
    assert parsed.command == ("./app", "--budget", "--", "x")
    assert parsed.arguments.budget is None


def test_bad_settings() -> None:
    bad(["thraeds=1,2"], "Unknown setting: 'thraeds'", "threads")
    bad(["malloc=glibc,jemaloc"], "malloc cannot be 'jemaloc'", "jemalloc")
    bad(["threads"], "is not an assignment")
    bad(["nice=0,5", "nice=10"], "nice is given twice")
    bad(["arg.sise=1,2"], "has no placeholder", "Did you mean arg.size?")
    bad(["arg.elsewhere=1,2"], "has no placeholder", "{elsewhere}")
    bad(["nice=0,5", "--constraint", "nice >"], "not an expression")


@pytest.mark.parametrize(
    ("words", "match", "remedy"),
    [
        (["--budget", "soon"], "not a duration", "10m"),
        (["--budget=-5s"], "not a duration", ""),
        (["--runs", "0"], "not a number of launches", ""),
        (["--runs", "many"], "not a number of launches", ""),
        (["--margin", "2"], "not a share", "1%"),
        (["--metric", "fps"], "Unknown metric", "NAME=REGEX"),
        (["--metric", "fps=("], "--metric: invalid regular expression", ""),
        (["--metric", "wal_s"], "Unknown metric", "wall_s"),
        (["--metric", "a=x", "--metric", "a=y"], "given twice", ""),
        (["--check", "["], "--check: invalid regular expression", ""),
        (["--goal", "faster"], "not a goal", "higher"),
        (["--goal", "fps=higher"], "[Uu]nknown metric: 'fps'", ""),
        (["--objective", "fps"], "[Uu]nknown metric: 'fps'", "--metric"),
        (["--objective", "peak_bytes"], "page cache", "peak_anon_bytes"),
        (["--unit", "fps"], "lacks a value", ""),
        (["--unit", "fps=1/s"], "[Uu]nknown metric: 'fps'", ""),
        (["--unit", "wall_s=ms"], "unit of this metric is s", ""),
        (["--timeout", "0"], "not a duration", ""),
        (["--limit", "mem"], "lacks a value", ""),
        (["--limit", "memory=1G"], "Unknown limit: 'memory'", "mem"),
        (["--limit", "procs=some"], "not a number", "--limit procs=64"),
        (["--limit", "procs=0"], "not a number", "1 to 4,194,304"),
        (["--limit", "procs=4194305"], "exceeds the maximum of 4,194,304", "1 to 4,194,304"),
        (["--limit", "mem=lots"], "not a size", ""),
        (["--limit", "mem=0"], "no room for a program", "--limit mem=2G"),
        (["--limit", "mem=1K"], "no room for a program", "1M"),
        (["--limit", "mem=9E"], "not a size", ""),
        (["--limit", "mem=99999999T"], "not a size below 8 EiB", ""),
        (["--limit", "mem=1e400"], "not a size below 8 EiB", ""),
        (["--limit", "cpu=0"], "--limit cpu: '0' is not a duration above zero", ""),
        (["--limit", "output=0"], "not a size above zero", "--limit output=1G"),
        (["--limit", "time=5s"], "Unknown limit: 'time'", "--timeout"),
        (["--limit", "mem=1G,mem=2G"], "mem is given twice", ""),
        (["--budget", "1e400"], "not a duration below 30 years", "10m"),
        (["--budget", "1e10"], "not a duration below 30 years", "10m"),
        (["--timeout", "1e-300"], "not a duration above zero", ""),
        (["--runs", "10000000000"], "exceeds the maximum of 1,000,000 launches", "several studies"),
        (["--margin", "0%"], "not a share above 0 and below 100 %", "1%"),
        (["--input", "/nowhere/at/all"], "not a file", ""),
    ],
)
def test_bad_options(words: list[str], match: str, remedy: str) -> None:
    bad(words, match, remedy)


def test_the_goal_is_the_objectives() -> None:
    request = tune(
        "--metric",
        "a=x",
        "--metric",
        "b=y",
        "--objective",
        "b",
        "--goal",
        "higher",
        "--unit",
        "b=1/s",
    )
    workload = workload_of(request)
    assert [m.name for m in workload.metrics] == ["b", "a", "wall_s"]
    assert [m.goal for m in workload.metrics] == [Goal.HIGHER, Goal.LOWER, Goal.LOWER]
    assert workload.objective.unit == "1/s"


def test_the_first_value_is_the_default_of_a_placeholder() -> None:
    request = tune("arg.n=4,8", "env.A=x,y", command=("./app", "{n}", "{other}"))
    workload = workload_of(request)
    assert workload.placeholders == {"n": "4"}
    assert workload.environment == {"A": "x"}


def test_budgets() -> None:
    assert tune().budget == Budget(time_s=600.0)
    assert tune("--budget", "90").budget == Budget(time_s=90.0)
    assert tune("--runs", "50").budget == Budget(launches=50)
    assert tune("--runs", "50", "--budget", "2m").budget == Budget(time_s=120.0, launches=50)


def test_configurations() -> None:
    found = configuration_of(["nice=5", "env.A=x,y", "env.B="], builtin(), MACHINE)
    assert found == Configuration({"nice": 5, "env.A": "x,y", "env.B": ""})
    with pytest.raises(InvalidInputError, match="given twice"):
        configuration_of(["nice=5", "nice=10"], builtin(), MACHINE)


GOOD = """
constraints = ["threads * arg.n <= 8"]
[settings]
threads = [1, 2, 4]
omp.bind = "close,spread"
arg.n = "1..8:log2"
[settings."env.A"]
domain = ["x,y", "z"]
condition = "threads > 1"
"""


def in_file(tmp_path: Path, text: str, *words: str) -> TuneRequest:
    file = tmp_path / "space.toml"
    file.write_text(text)
    return tune("--space", str(file), *words)


def test_a_space_file(tmp_path: Path) -> None:
    space = space_of(in_file(tmp_path, GOOD))
    found = {p.name: p for p in space.parameters}
    assert found["threads"].domain == Choices((1, 2, 4), ordered=True)
    assert found["omp.bind"].domain == Choices(("close", "spread"))
    assert found["arg.n"].domain == Range(1, 8, step=2, log=True)
    assert found["env.A"].domain == Choices(("x,y", "z"))
    assert found["env.A"].condition == "threads > 1"
    assert space.constraints == ("threads * arg.n <= 8",)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("settings = 5", "settings"),
        ("settings = [", "not TOML"),
        ("[setings]\nthreads = 1", "setings"),
        ("[settings]\nthraeds = [1, 2]", "settings.thraeds"),
        ("[settings]\nthreads = []", "settings.threads"),
        ("[settings]\nnice = [0, 99]", "settings.nice"),
        ("[settings]\nmalloc = true", "settings.malloc"),
        ("[settings.threads]\ncondition = 'nice > 0'", "settings.threads lacks a domain"),
        ("[settings.threads]\ndomain = '1..4'\nwhen = 'nice >'", "settings.threads"),
        ("[settings.threads]\ndomain = '1..4'\nstep = 2", "'step'"),
        ("constraints = 'a'\n[settings]\nthreads = [1, 2]", "constraints"),
        ("constraints = ['a >']\n[settings]\nthreads = [1, 2]", "constraints"),
        ("constraints = ['f()']\n[settings]\nthreads = [1, 2]", "constraints"),
        ("[settings]\nthreads = {a = 1}", "settings.threads"),
        ("[settings]\nthreads = [[1], {}]", "settings.threads"),
        ("[settings]\n'' = [1]", "settings."),
    ],
)
def test_bad_space_files_name_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        space_of(in_file(tmp_path, text))
    assert "space.toml" in caught.value.cause
    assert key in caught.value.cause


def test_space_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InvalidInputError, match="cannot be read"):
            space_of(tune("--space", str(path)))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInputError, match=r"bytes\.toml:1:1: this is not UTF-8"):
        space_of(tune("--space", str(tmp_path / "bytes.toml")))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[settings]\nthreads = 1\n threads = 2", "3:13"),
        ("[setings]\nthreads = 1", "1:2"),
        ("[settings]\nnice = 1\nthread = [1, 2]", "3:1"),
        ("[settings]\nomp.bind = { domain = 'close', whn = 'x' }", "2:32"),
        ("[settings]\nnice = { domain = [1, 5], condition = 'thread > 1' }", "2:27"),
        ("constraints = [\n  'nice > 0',\n  'nic > 0']\n[settings]\nnice = [1, 5]", "3:3"),
        ("constraints = [1]\n[settings]\nnice = [1, 5]", "1:16"),
    ],
)
def test_bad_space_files_name_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        space_of(in_file(tmp_path, text))
    assert caught.value.cause.startswith(f"{tmp_path}/space.toml:{place}: ")


def test_expressions_of_a_space_file_may_name_settings_of_the_command_line(tmp_path: Path) -> None:
    text = "constraints = ['threads * nice < 9']\n[settings]\nnice = [1, 5]"
    request = in_file(tmp_path, text, "threads=1,2")
    assert space_of(request).constraints == ("threads * nice < 9",)
    with pytest.raises(InvalidInputError, match=r"space\.toml:1:16: .*names threads"):
        space_of(in_file(tmp_path, text))


def test_names_with_dots_need_no_quotes(tmp_path: Path) -> None:
    text = "[settings]\nenv.domain = [1, 2]\nthreads.omp = [1, 2]\nthreads = {domain = [1]}\n"
    with pytest.raises(InvalidInputError, match="not TOML"):
        space_of(in_file(tmp_path, text))
    text = "[settings]\nenv.domain = [1, 2]\nthreads.omp = [1, 2]\narg.n = {domain = [1, 2]}\n"
    found = space_of(in_file(tmp_path, text))
    assert [p.name for p in found.parameters] == ["env.domain", "threads.omp", "arg.n"]


@pytest.mark.parametrize(
    ("statistic", "words", "margin"),
    [
        ("mean", [], 0.01),
        ("median", [], 0.01),
        ("spread", [], 0.25),
        ("spread", ["--margin", "5%"], 0.05),
    ],
)
def test_spreads_have_a_margin_of_their_own(
    statistic: str, words: list[str], margin: float
) -> None:
    request = tune("--objective", f"wall_s:{statistic}", *words)
    assert request.equivalence_margin == pytest.approx(margin)


def test_measure_refuses_what_decides_between_arms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "--objective", "wall_s:spread", "--", "true"]) == 2
    assert "measure takes the mean as its objective" in capsys.readouterr().err


def test_exported_bundle_states_placeholders_and_outputs() -> None:
    assert _replaced_names({"~": 6}, outputs=True) == (
        "  contains placeholders for names: ~ (6 times), and the output of the program; "
        "read it before you share it, or leave it out by --no-outputs"
    )
    assert _replaced_names({}, outputs=False) == (
        "  contains no names of host or user, and no output of the program"
    )
