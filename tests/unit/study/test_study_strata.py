from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from assay.errors import NotPossibleError
from assay.machine.document import Program
from assay.machine.launch_environment import read_environment
from assay.machine.session_variables import SESSION_VARIABLES
from assay.records import (
    Choices,
    Configuration,
    Parameter,
    Plan,
    PlannedSetting,
    Prospect,
    Range,
    Space,
    Stratum,
)
from assay.records.plan import Level
from assay.study.laboratory import Laboratory
from assay.study.space_choice import grantable_space
from assay.study.stratum import conditions_changed, demand_same, differences
from assay.wording.conditions import resumed_note

THEN = Stratum(
    number=0,
    program_digest="a" * 64,
    kernel="6.1.0",
    cpus=(0, 1),
    default_state={"thp": "madvise"},
    assay_version="0.1.0",
    machine="m",
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"program_digest": "b" * 64}, "the program: aaaaaaaaaaaa then, bbbbbbbbbbbb now"),
        ({"kernel": "6.18.0"}, "the kernel: 6.1.0 then, 6.18.0 now"),
        ({"cpus": (0,)}, "the usable CPUs: 0,1 then, 0 now"),
        ({"assay_version": "0.2.0"}, "assay's version: 0.1.0 then, 0.2.0 now"),
        ({"machine": "n"}, "the machine: m then, n now"),
        ({"default_state": {"thp": "never"}}, "thp: madvise then, never now"),
        ({"default_state": {}}, "thp: madvise then, absent now"),
    ],
)
def test_changed_condition_is_named_and_rejected(change: dict[str, object], said: str) -> None:
    now = msgspec.structs.replace(THEN, **change)
    assert differences(THEN, now) == [said]
    with pytest.raises(NotPossibleError, match="cannot be pooled") as caught:
        demand_same(THEN, now)
    assert said in caught.value.cause
    assert "--new-stratum" in str(caught.value.remedy)


def test_next_step_in_python_unsets_variables_in_the_process() -> None:
    changed = ["variable A: not set then", "variable B: another value now"]
    error = conditions_changed(changed, ["A"])
    assert "`env -u A assay study resume ...`" in str(error)
    assert "--new-stratum" in str(error)
    error = error.for_python()
    assert '`del os.environ["A"]`' in str(error)
    assert "new_stratum=True" in str(error)
    for copied in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(copied) == str(error)


def test_equal_conditions_are_pooled() -> None:
    demand_same(THEN, msgspec.structs.replace(THEN, number=3, model="x", host={"a": 1}))


def test_digest_of_comparison_covers_all_programs() -> None:
    def lab(*digests: str | None) -> Laboratory:
        first, *others = (Program(argv0="x", digest=digest) for digest in digests)
        return Laboratory(None, None, None, first, tuple(others))  # type: ignore[arg-type]

    assert lab("a").digest == "a"
    assert lab("a", "b").digest not in ("a", "b")
    assert len({lab(*d).digest for d in (("a", "b"), ("a", "c"), ("b", "a"), ("a", None))}) == 4
    assert Laboratory(None, None, None).digest is None  # type: ignore[arg-type]


def test_refused_values_are_removed_from_space() -> None:
    def plan(configuration: Configuration) -> Plan:
        ((name, value),) = configuration.items()
        refused = value == -5 or name == "smt"
        word = PlannedSetting(
            value=value,
            status=Prospect.REFUSED if refused else Prospect.GRANTABLE,
            level=Level.SET,
            reason="not allowed" if refused else None,
        )
        return Plan(configuration=configuration, settings={name: word})

    space = Space(
        parameters=(
            Parameter(name="nice", domain=Choices((-5, 0, 5), ordered=True)),
            Parameter(name="smt", domain=Choices((True, False))),
            Parameter(name="arg.n", domain=Range(1, 9, step=1)),
        )
    )
    found, refused = grantable_space(space, plan)
    assert [p.name for p in found.parameters] == ["nice", "arg.n"]
    assert found.parameters[0].domain == Choices((0, 5), ordered=True)
    assert refused == {
        "nice=-5": "not allowed",
        "smt=true": "not allowed",
        "smt=false": "not allowed",
    }


def _above(limit: int) -> Callable[[Configuration], Plan]:
    """Return a planner that refuses numbers above a limit."""

    def plan(configuration: Configuration) -> Plan:
        ((name, value),) = configuration.items()
        refused = int(value) > limit
        word = PlannedSetting(
            value=value,
            status=Prospect.REFUSED if refused else Prospect.GRANTABLE,
            level=Level.SET,
            reason=f"at most {limit}" if refused else None,
        )
        return Plan(configuration=configuration, settings={name: word})

    return plan


def test_range_keeps_grantable_values() -> None:
    space = Space(parameters=(Parameter(name="cpus", domain=Range(1, 6, step=1)),))
    found, refused = grantable_space(space, _above(2))
    assert found.parameters[0].domain.values() == (1, 2)
    assert refused == {"cpus=3..6": "at most 2"}


@pytest.mark.parametrize("named", [False, True])
def test_setting_with_default_only_is_removed(named: bool) -> None:
    """An expression keeps the setting."""
    space = Space(
        parameters=(
            Parameter(name="instances", domain=Choices((1, 4), ordered=True), default=1),
            Parameter(name="arg.n", domain=Choices((1, 2))),
        ),
        constraints=("arg.n > instances",) if named else (),
    )
    found, refused = grantable_space(space, _above(2))
    assert [p.name for p in found.parameters] == ["instances"] * named + ["arg.n"]
    assert refused == {"instances=4": "at most 2"}


@pytest.mark.parametrize("when", [None, "cpus > 7"])
def test_expression_over_removed_setting_is_rejected(when: str | None) -> None:
    space = Space(
        parameters=(
            Parameter(name="cpus", domain=Choices((8, 9))),
            Parameter(name="arg.n", domain=Choices((1, 2)), condition=when),
        ),
        constraints=() if when else ("cpus > arg.n",),
    )
    with pytest.raises(NotPossibleError, match=r"refers to cpus.*at most 2"):
        grantable_space(space, _above(2))


def test_changed_environment_begins_new_stratum() -> None:
    env = {"OMP_NUM_THREADS": "2", "SL": "0.1", "PATH": "/bin"}
    then = _under(env)
    assert then.launch_environment.keys() >= {"variable SL", "niceness", "scheduling class"}
    assert "0.1" not in str(then.launch_environment)
    now = _under({"SL": "0.2", "LD_PRELOAD": "x.so", "BASH_FUNC_f%%": "() { :; }", "PATH": "/bin"})
    assert differences(then, now) == [
        "variable BASH_FUNC_f%%: not set then",
        "variable LD_PRELOAD: not set then",
        "variable OMP_NUM_THREADS: not set now",
        "variable SL: another value now",
    ]
    with pytest.raises(NotPossibleError) as caught:
        demand_same(then, now)
    assert "`env -u BASH_FUNC_f%% -u LD_PRELOAD assay study resume" in str(caught.value.remedy)


def _under(env: dict[str, str]) -> Stratum:
    return msgspec.structs.replace(THEN, launch_environment=read_environment(env))


OTHER_SHELL = """
    _ SHLVL PWD OLDPWD PS1 LS_COLORS MAIL TERM COLORTERM COLUMNS LINES KITTY_WINDOW_ID WEZTERM_PANE
    VTE_VERSION GNOME_TERMINAL_SCREEN KONSOLE_VERSION TERM_SESSION_ID WINDOW WINDOWID WT_SESSION
    TMUX TMUX_PANE STY VSCODE_IPC_HOOK_CLI TERM_PROGRAM GIT_ASKPASS XDG_SESSION_ID XDG_RUNTIME_DIR
    DBUS_SESSION_BUS_ADDRESS DISPLAY SSH_CONNECTION SSH_TTY GPG_TTY SUDO_USER SUDO_COMMAND
    INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID SLURM_JOB_ID HOSTNAME ASSAY_DB
    SLURM_ARRAY_JOB_ID PBS_JOBID PBS_NODEFILE LSB_JOBID LSB_BATCH_JID JOB_ID COBALT_JOBID OAR_JOB_ID
    FLUX_URI _CONDOR_SCRATCH_DIR OMPI_MCA_ess_base_jobid PMIX_NAMESPACE PMIX_SERVER_URI41 PMI_FD
    GITHUB_RUN_ID GITHUB_RUN_ATTEMPT GITHUB_SHA GITHUB_ENV CI_JOB_ID CI_JOB_TOKEN CI_PIPELINE_IID
    BUILD_NUMBER BUILD_TAG JENKINS_NODE_COOKIE CIRCLE_WORKFLOW_ID TRAVIS_JOB_ID BUILDKITE_JOB_ID
    SYSTEM_JOBID BITBUCKET_BUILD_NUMBER DRONE_BUILD_NUMBER CIRRUS_TASK_ID
"""


def test_changed_terminal_login_or_job_keeps_stratum() -> None:
    env = {"OMP_NUM_THREADS": "2"}
    then = _under(env)
    one, other = (_under(env | dict.fromkeys(OTHER_SHELL.split(), value)) for value in "ab")
    for before, after in ((then, one), (one, then), (one, other)):
        assert differences(before, after) == []
    assert one.launch_environment.keys() >= {f"variable {name}" for name in OTHER_SHELL.split()}


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH"),
        *("OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "CUDA_VISIBLE_DEVICES"),
        *("SLURM_CPUS_PER_TASK", "MAKEFLAGS", "VIRTUAL_ENV", "CONDA_PREFIX", "XDG_CACHE_HOME"),
        *(
            "SLURM_ARRAY_TASK_ID",
            "PBS_ARRAY_INDEX",
            "LSB_JOBINDEX",
            "OMPI_MCA_btl",
            "OMPI_COMM_WORLD_SIZE",
        ),
        *("CI", "GITHUB_ACTIONS", "BUILD_TYPE", "GIT_DIR", "CI_JOBS", "JOBS", "PMIX_MCA_gds"),
        *("TERMS", "LINESIZE", "WINDOW_SIZE", "VIMS", "PSM2_DEVICES", "LISTEN_PORT", "UNKNOWN"),
    ],
)
def test_relevant_variables_are_compared(name: str) -> None:
    assert differences(_under({}), _under({name: "1"})) == [f"variable {name}: not set then"]


def test_resume_page_names_all_session_variables() -> None:
    page = (Path(__file__).parents[3] / "docs" / "howto" / "resume.md").read_text()
    for group, patterns in SESSION_VARIABLES.items():
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {group} |")]
        assert re.findall(r"`([^`]+)`", line) == list(patterns)


@pytest.mark.parametrize(
    ("more", "note"),
    [
        (0, "the study had already reached its end, so nothing was launched"),
        (3, "3 launches since the study was resumed, 1 launch before"),
    ],
)
def test_note_on_resumed_study_has_its_launches(more: int, note: str) -> None:
    assert resumed_note(1, more) == note
