"""Thread pools of frameworks: variables of the hook, and judgement of its report."""

from __future__ import annotations

import pytest

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.records import (
    Configuration,
    GrantStatus,
    Launch,
    Level,
    ReadBack,
    Stage,
    Value,
    Workload,
)
from assay.settings.domain_text import parse_domain
from assay.settings.frameworks import FRAMEWORKS, HOOK
from assay.settings.list_variables import contains, merge
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine, program

REGISTRY = builtin()
HOST = machine(cores=4)
NAMES = ["threads.torch.intra", "threads.torch.inter", "threads.tf.intra", "threads.tf.inter"]


def environment(given: dict[str, Value], **env: str) -> dict[str, str]:
    config = Configuration(given)
    made = plan(config, HOST, REGISTRY)
    assert not made.refused
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    document = launcher_document(made, Workload(argv=("python3",)), launch, env=env)
    return dict(document["env_set"])


def test_frameworks_have_four_settings() -> None:
    assert [s.name for s in FRAMEWORKS] == NAMES


def test_each_setting_uses_hook_with_shared_path() -> None:
    got = environment({name: n for n, name in enumerate(NAMES, 1)})
    assert got == {
        "PYTHONPATH": HOOK,
        "ASSAY_HOOK_TORCH_INTRA": "1",
        "ASSAY_HOOK_TORCH_INTER": "2",
        "ASSAY_HOOK_TF_INTRA": "3",
        "ASSAY_HOOK_TF_INTER": "4",
    }


def test_hook_precedes_inherited_path() -> None:
    got = environment({"threads.torch.intra": 2}, PYTHONPATH="/a::/b")
    assert got["PYTHONPATH"] == f"{HOOK}:/a::/b"
    given: dict[str, Value] = {"threads.torch.intra": 2, "env.PYTHONPATH": "/c"}
    assert environment(given, PYTHONPATH="/a")["PYTHONPATH"] == f"/c:{HOOK}"


def test_pythonpath_is_merged_without_duplicates() -> None:
    assert merge("PYTHONPATH", "", "/h") == "/h"
    assert merge("PYTHONPATH", "/a:/h", "/h") == "/h:/a"
    assert contains("PYTHONPATH", "/h:/a", "/h")
    assert not contains("PYTHONPATH", "/hh:/a", "/h")


@pytest.mark.parametrize("value", [-1, "4", True, 1.5])
def test_values_other_than_counts_are_refused(value: Value) -> None:
    for name in NAMES:
        assert name in plan(Configuration({name: value}), HOST, REGISTRY).refused


def test_zero_lets_tensorflow_decide() -> None:
    got = environment({"threads.tf.intra": 0, "threads.tf.inter": 0})
    assert (got["ASSAY_HOOK_TF_INTRA"], got["ASSAY_HOOK_TF_INTER"]) == ("0", "0")
    for name in ("threads.tf.intra", "threads.tf.inter"):
        assert parse_domain(f"{name}=0,1,2", REGISTRY, HOST).domain.values() == (0, 1, 2)
        config = Configuration({name: 0})
        pool = name.removeprefix("threads.")
        variable = f"ASSAY_HOOK_{pool.upper().replace('.', '_')}"
        run = facts(ReadBack(environ={variable: "0"}), hook_report=f"7 {pool} exit 0\n")
        grant = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), run)[name]
        assert (grant.status, grant.level) == (GrantStatus.GRANTED, Level.SEEN)


@pytest.mark.parametrize("name", ["threads.torch.intra", "threads.torch.inter"])
def test_pytorch_refuses_zero_with_a_reason(name: str) -> None:
    word = plan(Configuration({name: 0}), HOST, REGISTRY).refused[name]
    assert word.reason is not None
    assert "requires a positive count, not 0; without the setting PyTorch chooses" in word.reason


def judged(
    report: str | None, value: int = 2, environ: dict[str, str] | None = None
) -> tuple[GrantStatus, Level, str]:
    name = "threads.torch.intra"
    config = Configuration({name: value})
    seen = ReadBack(environ={"ASSAY_HOOK_TORCH_INTRA": str(value)} if environ is None else environ)
    run = facts(seen, hook_report=report)
    grant = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), run)[name]
    return grant.status, grant.level, f"{grant.reason}; {grant.observed}"


@pytest.mark.parametrize(
    ("report", "expected", "told"),
    [
        ("7 torch.intra import 2\n7 torch.intra exit 2\n", GrantStatus.GRANTED, "PyTorch says 2"),
        ("7 torch.intra import 2\n", GrantStatus.GRANTED, "PyTorch says 2"),
        ("7 torch.intra import 2\n8 torch.intra import 2\n", GrantStatus.GRANTED, "2 processes"),
        (
            "7 torch.intra import 2\n7 torch.intra exit 4\n",
            GrantStatus.REFUSED,
            "changed the size itself",
        ),
        ("7 torch.intra import 1\n", GrantStatus.REFUSED, "another size"),
        ("7 torch.intra import error: too late\n", GrantStatus.REFUSED, "too late"),
        ("7 torch.intra asked 2\n", GrantStatus.UNVERIFIED, "before it was read"),
        ("7 torch.inter import 2\n", GrantStatus.UNVERIFIED, "imported torch"),
        ("7 torch.intra imp", GrantStatus.UNVERIFIED, "imported torch"),
        ("", GrantStatus.UNVERIFIED, "imported torch"),
        (None, GrantStatus.UNVERIFIED, "imported torch"),
    ],
)
def test_hook_report_is_judged(report: str | None, expected: GrantStatus, told: str) -> None:
    grant, level, text = judged(report)
    assert grant is expected and told in text
    assert level is (Level.SET if expected is GrantStatus.UNVERIFIED else Level.SEEN)


def test_missing_variable_is_refused() -> None:
    assert judged("", environ={})[:2] == (GrantStatus.REFUSED, Level.SET)


def test_setting_is_never_suggested() -> None:
    for setting in FRAMEWORKS:
        why = setting.suggest(program(packages=(setting.package,)), HOST)
        assert isinstance(why, str) and "name it" in why
        why = setting.suggest(program(), HOST)
        assert isinstance(why, str) and setting.package in why


def test_script_includes_hook() -> None:
    made = plan(Configuration({"threads.torch.intra": 2}), HOST, REGISTRY)
    script = shell_script(made, Workload(argv=("python3", "x.py")))
    assert "def _torch_intra(" in script and HOOK not in script
    assert 'PYTHONPATH="$hook"' in script


def test_narrower_pools_override_variables() -> None:
    got = environment({"threads": 4, "threads.blas": 3, "threads.mkl": 2, "threads.numexpr": 1})
    assert got["OMP_NUM_THREADS"] == "4"
    assert (got["OPENBLAS_NUM_THREADS"], got["MKL_NUM_THREADS"]) == ("3", "2")
    assert (got["NUMEXPR_NUM_THREADS"], got["NUMEXPR_MAX_THREADS"]) == ("1", "1")
    assert environment({"threads.mkl.dynamic": "false"}) == {"MKL_DYNAMIC": "FALSE"}
    assert (
        "threads.mkl.dynamic"
        in plan(Configuration({"threads.mkl.dynamic": "no"}), HOST, REGISTRY).refused
    )
