"""Build command of a program, with the values of a configuration."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.launch.build_command import (
    build_command,
    build_key,
    recipe_of,
    with_build_folder,
    with_build_path,
)
from assay.launch.command import command_of
from assay.launch.script import explain, shell_script
from assay.records import Build, BuildRecipe, Configuration, Plan, Workload

ARGV = ("{cc}", "{opt}", "-D{name}=1", "-o", "{build}/prog", "prog.c")


def workload(argv: tuple[str, ...] = ARGV, **defaults: str) -> Workload:
    recipe = recipe_of(argv, defaults, defaults)
    return Workload(argv=("{build}/prog", "7"), build=recipe)


def plan(**values: str) -> Plan:
    actions = tuple(Build(name=name, value=value) for name, value in values.items())
    configuration = Configuration({f"build.{name}": value for name, value in values.items()})
    return Plan(configuration=configuration, actions=actions)


def test_placeholders_are_replaced_by_values() -> None:
    found = build_command(plan(opt="-O3"), workload(cc="gcc", opt="-O1", name="A"))
    assert found == ("gcc", "-O3", "-DA=1", "-o", "{build}/prog", "prog.c")


@pytest.mark.parametrize(
    "value, words",
    [
        ("", ()),
        ("-O3 -funroll-loops", ("-O3", "-funroll-loops")),
        ("'-DX=a b'", ("-DX=a b",)),
        ("{cc}", ("{cc}",)),
    ],
)
def test_value_of_whole_word_is_split_into_words(value: str, words: tuple[str, ...]) -> None:
    found = build_command(plan(opt=value), workload(("cc", "{opt}", "x.c"), opt=""))
    assert found == ("cc", *words, "x.c")


@pytest.mark.parametrize("value", ["", "-O3 -g", "it's"])
def test_value_within_a_word_is_not_split(value: str) -> None:
    found = build_command(plan(opt=value), workload(("make", "F={opt}"), opt=""))
    assert found == ("make", f"F={value}")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20))
def test_value_leaves_other_words_unchanged(value: str) -> None:
    found = build_command(plan(a=value), workload(("cc", "x{a}", "{b}", "y"), a="", b="-O1"))
    assert found == ("cc", f"x{value}", "-O1", "y")


def test_shell_variable_is_not_a_placeholder() -> None:
    recipe = recipe_of(("sh", "-c", "${CC} {opt} -o {build}/p"), ["opt"], {"opt": "-O1"})
    found = build_command(plan(), Workload(argv=("{build}/p",), build=recipe))
    assert found[2] == "${CC} -O1 -o {build}/p"


def test_placeholder_without_value_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"\{opt\} of the build command has no value"):
        recipe_of(("cc", "{opt}"), [], {})


def test_value_without_placeholder_is_refused_with_nearest_name() -> None:
    with pytest.raises(
        InvalidInputError, match=r"the build command has no placeholder \{opts\}"
    ) as error:
        recipe_of(("cc", "{opt}"), ["opts", "opt"], {})
    assert error.value.remedy == "Did you mean build.opt?"
    with pytest.raises(InvalidInputError, match=r"the build command has no placeholder \{march\}"):
        build_command(plan(march="native"), workload(("cc", "{opt}"), opt=""))


def test_value_without_build_command_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no build command"):
        build_command(plan(opt="-O3"), Workload(argv=("true",)))
    assert build_command(plan(), Workload(argv=("true",))) == ()


def test_empty_build_command_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="build command is empty"):
        build_command(plan(), workload(("{cc}",), cc=""))


def test_build_folder_is_in_program_and_build_command() -> None:
    assert with_build_path(("-o", "{build}/a", "{x}"), "/f") == ("-o", "/f/a", "{x}")
    found = with_build_folder(workload(cc="gcc", opt="", name=""), "/f")
    assert command_of(plan(), found) == ("/f/prog", "7")


def test_build_key_depends_on_command_folder_and_sources() -> None:
    recipe = BuildRecipe(argv=("cc", "x.c"), cwd="/a")
    keys = {
        build_key(("cc", "x.c"), recipe, {"x.c": "1"}),
        build_key(("cc", "x.c"), recipe, {"x.c": "2"}),
        build_key(("cc", "-g", "x.c"), recipe, {"x.c": "1"}),
        build_key(("cc", "x.c"), BuildRecipe(argv=("cc", "x.c"), cwd="/b"), {"x.c": "1"}),
    }
    assert len(keys) == 4 and {len(key) for key in keys} == {64}
    assert build_key(("cc", "x.c"), recipe, {"b": "2", "a": "1"}) == build_key(
        ("cc", "x.c"), recipe, {"a": "1", "b": "2"}
    )


def test_script_builds_and_runs(tmp_path: Path) -> None:
    build = 'mkdir -p "$1"; printf "#!/bin/sh\\necho %s \\"\\$1\\"\\n" "$2" > "$1/prog"'
    build += '; chmod +x "$1/prog"; echo built'
    sources = tmp_path / "my sources"
    sources.mkdir()
    recipe = recipe_of(
        ("sh", "-c", build, "sh", "{build}", "{opt}"), ["opt"], {"opt": "-O1"}, cwd=str(sources)
    )
    made = Workload(argv=("{build}/prog", "a b"), build=recipe, cwd=str(tmp_path))
    script = tmp_path / "winner.sh"
    script.write_text(shell_script(plan(opt="-O3"), made))
    for folder in ("first", "with a blank"):
        done = subprocess.run(
            ["sh", script],
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", "ASSAY_BUILD_DIR": folder},
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "-O3 a b\n", "built\n")
        assert (tmp_path / folder / "prog").is_file()


def test_script_of_failing_build_runs_nothing(tmp_path: Path) -> None:
    made = Workload(argv=("echo", "{build}"), build=BuildRecipe(argv=("false",)), cwd=str(tmp_path))
    done = subprocess.run(
        ["sh", "-c", shell_script(plan(), made)], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (1, "")


def test_explanation_contains_build_command() -> None:
    told = explain(plan(opt="-O3"), workload(cc="gcc", opt="-O1", name="A"), {})
    assert told.startswith("#!/bin/sh\n# Build:\n#   gcc -O3 -DA=1 -o '{build}/prog' prog.c\n")
