"""For any request: a plan, its document, and a script that sh can parse."""

from __future__ import annotations

import shlex
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st
from settings.hosts import machine

from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.launch.script import explain, shell_script
from assay.machine.document import HugePages, Machine
from assay.records import (
    AnyText,
    Configuration,
    EnvSet,
    Launch,
    Prospect,
    Range,
    Stage,
    Unpreload,
    Value,
    Workload,
)
from assay.settings.base import Setting
from assay.settings.frameworks import HOOK
from assay.settings.registry import builtin

REGISTRY = builtin()
WORK = Workload(argv=("prog", "{n}"), placeholders={"n": "1"})
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
HOSTS = st.builds(
    machine,
    cores=st.integers(1, 4),
    smt=st.integers(1, 2),
    caches=st.integers(1, 2),
    huge_pages=st.sampled_from(["always", "madvise", "never", None]).map(
        lambda mode: HugePages(enabled=mode)
    ),
    kernel_version=st.sampled_from([(5, 10), (6, 18)]),
    libraries=st.sampled_from([{}, {"jemalloc": "/lib/libjemalloc.so.2"}]),
)


def some_value(setting: Setting, host: Machine) -> st.SearchStrategy[Value]:
    domain = setting.domain(host)
    if setting.name == "cpus":
        return st.one_of(st.integers(-1, 9), st.sampled_from(["0", "0-1", "1,3", "7"]))
    if setting.name == "command":
        return st.lists(TEXT, min_size=1).map(lambda words: shlex.join([*words, "{n}"]))
    if isinstance(domain, AnyText):
        return st.one_of(TEXT, st.integers(), st.floats(allow_nan=False))
    if isinstance(domain, Range):
        return st.integers(int(domain.low), int(domain.high))
    return st.sampled_from(domain.values())


@st.composite
def requests(draw: st.DrawFn) -> tuple[Machine, Configuration]:
    host = draw(HOSTS)
    named = [*REGISTRY, REGISTRY.get("env.OMP_NUM_THREADS"), REGISTRY.get("arg.n")]
    named += [REGISTRY.get("inherited.OMP_NUM_THREADS"), REGISTRY.get("inherited.LD_PRELOAD")]
    chosen = draw(st.lists(st.sampled_from(named), unique_by=lambda s: s.name, max_size=6))
    return host, Configuration({s.name: draw(some_value(s, host)) for s in chosen})


@settings(deadline=None)
@given(requests())
def test_any_request_is_planned_with_status_of_each_setting(
    request: tuple[Machine, Configuration],
) -> None:
    host, config = request
    made = plan(config, host, REGISTRY)
    assert made.settings.keys() == config.keys()
    for word in made.settings.values():
        assert word.status is Prospect.GRANTABLE or word.reason
    text = explain(made, WORK, {})
    assert all(name in text for name in config)
    names = [action.name for action in made.actions if isinstance(action, EnvSet)]
    assert len(names) == len(set(names))


@settings(deadline=None, max_examples=40)
@given(requests())
def test_document_and_script_set_the_same_variables(
    request: tuple[Machine, Configuration],
) -> None:
    host, config = request
    made = plan(config, host, REGISTRY)
    if made.refused:
        return
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    document = launcher_document(made, WORK, launch, env={})
    script = shell_script(made, WORK)
    checked = subprocess.run(["/bin/sh", "-n"], input=script.encode(), capture_output=True)
    assert checked.returncode == 0, (script, checked.stderr)
    for name, value in document.get("env_set", {}).items():
        if name in ("OPENBLAS_VERBOSE", "LD_PRELOAD"):
            continue
        if value == HOOK:
            assert f'{name}="$hook"' in script
            continue
        assert f"{name}=" in script and shlex.quote(value) in script
    cleared = any(isinstance(action, Unpreload) for action in made.actions)
    assert cleared == ('LD_PRELOAD="$preload"' in script)
