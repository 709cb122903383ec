"""File names, arguments and values keep their bytes in every locale, even if they are not UTF-8."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import CommandLine

LATIN = "xx_XX.ISO-8859-1"
SPELLINGS = ("\303\251".encode("latin-1"), b"\351")
"""The letter e with an acute accent in UTF-8, and in ISO-8859-1, which is not valid UTF-8."""


@pytest.fixture(scope="session")
def latin(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Provide the variables of an ISO-8859-1 locale, which need not be installed here."""
    if shutil.which("localedef") is None:
        pytest.skip("localedef is not installed")
    folder = tmp_path_factory.mktemp("locales")
    rows = "\n".join(f"<U{code:04X}> /x{code:02x}" for code in range(256))
    (folder / "charmap").write_text(
        "<code_set_name> ISO-8859-1\n<mb_cur_min> 1\n<mb_cur_max> 1\n<escape_char> /\n"
        f"<comment_char> %\nCHARMAP\n{rows}\nEND CHARMAP\n"
    )
    letters = [";".join(f"<U{ord(letter) + i:04X}>" for i in range(26)) for letter in "Aa"]
    (folder / "source").write_text(
        "escape_char /\ncomment_char %\nLC_CTYPE\n"
        f"upper {letters[0]}\nlower {letters[1]}\ndigit <U0030>..<U0039>\n"
        "space <U0020>;<U0009>..<U000D>\nEND LC_CTYPE\n"
    )
    sources = ["-f", folder / "charmap", "-i", folder / "source"]
    subprocess.run(["localedef", "-c", *sources, folder / LATIN], capture_output=True)
    if not (folder / LATIN / "LC_CTYPE").exists():
        pytest.skip("localedef makes no locale here")
    return {"LOCPATH": str(folder), "LC_ALL": LATIN}


@pytest.fixture(params=[LATIN, "C", "C.UTF-8"])
def locale(request: pytest.FixtureRequest) -> dict[str, str]:
    """Provide the variables of each locale in turn."""
    if request.param == LATIN:
        found: dict[str, str] = request.getfixturevalue("latin")
        return found
    return {"LC_ALL": request.param}


def placed(name: bytes, folder: Path) -> Path:
    """Make a folder and a file in it whose names hold these bytes."""
    place = folder / os.fsdecode(b"d" + name)
    place.mkdir()
    (place / os.fsdecode(b"f" + name)).write_bytes(b"content\n")
    return place


@pytest.mark.parametrize("name", SPELLINGS)
def test_run_in_any_locale_keeps_bytes(
    assay_exec: Path, tmp_path: Path, locale: dict[str, str], name: bytes
) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    place, text = placed(name, tmp_path), os.fsdecode(name)
    script = f'printf %s "$X$1" > o{text}; cat f{text} >> o{text}; pwd >> o{text}'
    words = ("run", "--with", f"env.X={text}", "--", "sh", "-c", script, "sh", text)
    answer = cli(*words, cwd=place, **locale)
    assert (answer.status, answer.err) == (0, "")
    written = place / os.fsdecode(b"o" + name)
    assert written.read_bytes() == 2 * name + b"content\n" + os.fsencode(place) + b"\n"


@pytest.mark.rotating
def test_study_in_latin_locale_keeps_bytes(
    assay_exec: Path, tmp_path: Path, latin: dict[str, str]
) -> None:
    """Input, check, store, resumption, script, `run --from`, report and bundle agree on them."""
    name = b"\351"
    place, text = placed(name, tmp_path), os.fsdecode(name)
    store = tmp_path / f"s{text}.db"
    cli = CommandLine(assay_exec, tmp_path, more={**latin, "ASSAY_DB": str(store)})
    command = ("sh", "-c", f'test "$X" = {text} || sleep 0.1; cat; printf "%s\\n" "$X"')
    asked = ("--input", f"f{text}", "--export", f"m{text}.md")
    tune = ("tune", f"env.X={text}", "--runs", "4", *asked, "--", *command)
    assert cli(*tune, cwd=place).status == 0
    assert (place / f"m{text}.md").exists()
    resumed = cli("study", "resume", "last", "--runs", "6", cwd=place)
    assert resumed.status == 0, resumed.err
    script = cli("run", "--from", "last", "--unproven", "--explain", cwd=place)
    assert script.status == 0, script.err
    (tmp_path / "again.sh").write_text(script.out)
    for again in (["sh", "again.sh"], cli.argv("run", "--from", "last", "--unproven")):
        done = subprocess.run(again, capture_output=True, env=cli.env, cwd=tmp_path)
        assert done.stdout == b"content\n" + name + b"\n", done.stderr
    assert cli("report", "last", "-o", f"r{text}.html", cwd=place).status == 0
    assert (place / f"r{text}.html").read_text(encoding="utf-8")
    assert cli("study", "export", "last", "--bundle", f"b{text}.zip", cwd=place).status == 0
    verified = cli("study", "verify", f"b{text}.zip", cwd=place)
    assert verified.status == 0, verified.out


@pytest.mark.rotating
def test_check_and_build_keep_bytes(
    assay_exec: Path, tmp_path: Path, latin: dict[str, str]
) -> None:
    name = b"\351"
    cli = CommandLine(assay_exec, tmp_path, more=latin)
    place, text = placed(name, tmp_path), os.fsdecode(name)
    build = ("--build", f"cp f{text} {{build}}/g{text}", "--build-input", f"f{text}")
    check = ("--check", f"n{text}")
    words = ("sh", "-c", f'cat "$1"; echo "n{text}"', "sh", f"{{build}}/g{text}")
    answer = cli("measure", "--runs", "3", *build, *check, "--", *words, cwd=place)
    assert answer.status == 0, answer.err
    failed = cli("measure", "--runs", "3", "--check", f"m{text}", "--", "echo", text, cwd=place)
    assert failed.status == 1


def test_program_in_c_locale_gets_no_additional_variable(assay_exec: Path, tmp_path: Path) -> None:
    """Python sets LC_CTYPE there, with which many tools are slower; a given one stays."""
    cli = CommandLine(assay_exec, tmp_path)
    locales = ("LC_ALL", "LC_CTYPE", "LANG")
    bare = {name: value for name, value in cli.env.items() if name not in locales}
    for given in ({}, {"LC_CTYPE": "C.UTF-8"}, {"LANG": "C"}):
        done = subprocess.run(
            cli.argv("run", "--", "env"), env={**bare, **given}, capture_output=True, cwd=tmp_path
        )
        seen = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
        assert {name: seen[name] for name in locales if name in seen} == given
