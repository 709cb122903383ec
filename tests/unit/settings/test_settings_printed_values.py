"""Forms in which programs print the values of their settings."""

from __future__ import annotations

import shlex

import pytest

from assay.records import Configuration, Plan
from assay.records.action import Affinity, EnvSet, Preload
from assay.records.shell import SIGPIPE_TRAP
from assay.settings.printed_values import (
    differing_words,
    printed_cpu_forms,
    printed_values,
    printed_words,
)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("./sort --algo=heap", {"./sort", "sort", "--algo=heap", "algo=heap", "heap"}),
        ("/opt/bin/q -j4", {"/opt/bin/q", "q", "-j4", "j4", "4"}),
        ("q -x --", {"q", "-x"}),
        ("q --file=/data/a.csv", {"q", "--file=/data/a.csv", "file=/data/a.csv", "a.csv"}),
        ("bench 'run 10'", {"bench", "run 10", "run", "10"}),
    ],
)
def test_words_of_a_command_include_the_values_of_its_options(
    command: str, words: set[str]
) -> None:
    assert words <= printed_words(command)
    assert "x" not in printed_words(command) and "--" not in printed_words(command)


def test_pipeline_wrapper_is_not_among_its_words() -> None:
    command = shlex.join(("/bin/bash", "-c", f"{SIGPIPE_TRAP}gzip -9 <a.txt | wc"))
    assert {"gzip", "-9", "wc"} <= printed_words(command)
    assert "PIPESTATUS" not in str(printed_words(command))


def test_text_with_an_open_quote_has_words() -> None:
    assert {"it's", "here"} <= printed_words('bash -c "echo it\'s here"')


def test_words_of_all_commands_do_not_differ() -> None:
    found = differing_words(["q --mode=a in.txt", "q --mode=b in.txt", "q in.txt -v"])
    assert {"a", "b", "--mode=a", "-v"} <= found
    assert not found & {"q", "in.txt"}
    assert differing_words([]) == frozenset()


def test_cpu_forms_are_distinguishable_from_numbers() -> None:
    assert printed_cpu_forms([3, 0, 1]) == {"0-1,3", "0,1,3", "{0, 1, 3}", "[0, 1, 3]", "(0, 1, 3)"}
    assert printed_cpu_forms([5]) == {"{5}", "[5]", "(5)"}
    assert printed_cpu_forms([]) == frozenset()


def test_printed_values_include_values_in_force() -> None:
    configuration = Configuration({"malloc": "jemalloc", "cpus": 1})
    actions = (
        Preload(path="/usr/lib/libjemalloc.so.2"),
        EnvSet(name="MALLOC_CONF", value="narenas:4"),
        Affinity(cpus=(4,)),
    )
    found = printed_values(configuration, Plan(configuration=configuration, actions=actions), ())
    assert {"jemalloc", "/usr/lib/libjemalloc.so.2", "narenas:4", "1", "4", "{4}"} <= found
    assert {"10", "0x10"} <= found  # masks


def test_printed_values_of_command_are_its_differing_words() -> None:
    commands = ["q --mode=a in.txt", "q --mode=b in.txt"]
    configuration = Configuration({"command": commands[0]})
    plan = Plan(configuration=configuration)
    found = printed_values(configuration, plan, differing_words(commands))
    assert found == {"--mode=a", "mode=a", "a"}
