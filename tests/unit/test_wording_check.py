"""The wording check finds each fault in each format, and counts it against its limit."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "wording.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wording", TOOL)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without files, which is the current folder."""
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(tool: ModuleType, name: str, text: str) -> list[tuple[str, int, str]]:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [(one.kind, one.first, one.content) for one in tool.texts(path)]


def rate(tool: ModuleType, name: str, kind: str, *files: str) -> float:
    found = [text for file in files for text in tool.texts(Path(file))]
    (value,) = [
        one.found for one in tool.rates(found) if one.kind == kind and one.name.startswith(name)
    ]
    return float(value)


def test_markdown_code_and_link_targets_are_left_out(tool: ModuleType, folder: Path) -> None:
    text = "# Title\n\nOne `what` and\n[a page](what.md).\n\n```sh\nwhat\n```\n| a | b |\n- item\n"
    assert contents(tool, "a.md", text) == [
        ("docs", 1, "# Title"),
        ("docs", 3, "One  x  and\n[a page x ."),
        ("docs", 9, "| a | b |"),
        ("docs", 10, "- item"),
    ]


def test_python_docstrings_comments_and_literals_are_read(tool: ModuleType, folder: Path) -> None:
    text = (
        '"""Module."""\n'
        "limit = 3  # seconds\n"
        '"""Attribute."""\n'
        "# Two lines\n"
        "# of one comment.\n"
        'print(f"cannot read {limit} files", "word", "two " "words")\n'
    )
    assert sorted(contents(tool, "a.py", text)) == [
        ("comments", 1, "Module."),
        ("comments", 2, "seconds"),
        ("comments", 3, "Attribute."),
        ("comments", 4, "Two lines\nof one comment."),
        ("messages", 6, "cannot read x files"),
        ("messages", 6, "two words"),
    ]


def test_python_literals_of_tests_are_left_out(tool: ModuleType, folder: Path) -> None:
    assert contents(tool, "tests/a.py", 'text = "several words of input"\n') == []


def test_cpp_comments_and_joined_literals_are_read(tool: ModuleType, folder: Path) -> None:
    text = (
        '#include "header.h"\n'
        "/// Return the size,\n"
        "/// in bytes.\n"
        "int size(); // not const\n"
        "/* A block. */\n"
        'const char* text = "first // words"\n'
        '    " and more";\n'
        "int thousand = 1'000; char quote = '\"';\n"
    )
    assert sorted(contents(tool, "a.cpp", text)) == [
        ("comments", 2, "Return the size,\nin bytes."),
        ("comments", 4, "not const"),
        ("comments", 5, "A block."),
        ("messages", 6, "first // words and more"),
    ]


@pytest.mark.parametrize("name", ["a.sh", "a.toml", "CMakeLists.txt", "a.cmake", "Makefile", "run"])
def test_comments_after_a_number_sign_are_read(tool: ModuleType, folder: Path, name: str) -> None:
    text = "#!/bin/sh\nsize=${#one} # bytes\n# a whole line\n"
    assert contents(tool, name, text) == [("comments", 2, "bytes"), ("comments", 3, "a whole line")]


@pytest.mark.parametrize("name", ["CHANGELOG.md", "tests/golden/a.md", "tests/fixtures/a.py"])
def test_recorded_texts_are_left_out(tool: ModuleType, folder: Path, name: str) -> None:
    assert contents(tool, name, "# what\n") == []


def test_phrase_over_a_line_break_is_counted(tool: ModuleType, folder: Path) -> None:
    contents(tool, "a.md", "The number is\nsaid by the page.\n")
    assert rate(tool, "is/are told", "docs", "a.md") == 1


def test_question_is_not_a_noun_phrase(tool: ModuleType, folder: Path) -> None:
    contents(tool, "a.md", "What does it cost?\n\nIt costs what it costs.\n")
    assert rate(tool, '"what"', "docs", "a.md") == 1


def test_rate_is_per_ten_thousand_words(tool: ModuleType, folder: Path) -> None:
    contents(tool, "a.md", "It costs what it costs. " + "word " * 19_995)
    assert rate(tool, '"what"', "docs", "a.md") == 0.5


@pytest.mark.parametrize(
    ("opening", "faults"),
    [("Return the size.", 0), ("What is left.", 1), ("One that\n    is left.", 1), ("Total.", 0)],
)
def test_doc_comment_opening_is_checked(
    tool: ModuleType, folder: Path, opening: str, faults: int
) -> None:
    contents(tool, "a.py", f'def one():\n    """{opening}"""\n\n\n# What is left.\n')
    assert tool.openings(tool.texts(Path("a.py"))).found == faults


def test_joined_lines_of_a_paragraph_count_as_one(tool: ModuleType, folder: Path) -> None:
    contents(tool, "a.md", ("word " * 15 + "\n") * 9 + "\n| " + "word " * 200 + "|\n")
    found = {one.name: one.found for one in tool.lengths(tool.texts(Path("a.md")))}
    assert found == {
        "sentences over 40 words": 1,
        "words in the longest sentence": 135,
        "paragraphs over 500 characters": 1,
    }


def test_names_of_tests_are_checked(tool: ModuleType, folder: Path) -> None:
    contents(tool, "tests/test_a.py", "def test_what_is_left():\n    def test_whatif(): ...\n")
    assert tool.test_names([Path("tests/test_a.py")]).places == [
        "tests/test_a.py:1: test_what_is_left"
    ]


def test_folder_with_too_many_files_is_found(tool: ModuleType) -> None:
    paths = [Path(folder, f"{n}.py") for n in range(41) for folder in ("src", "tests")]
    assert tool.crowded_folders(paths).places == ["src: 41 files"]


def test_status_is_one_beyond_a_limit(
    tool: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents(tool, "a.md", "It costs what it costs.\n" * 8)
    assert tool.main([]) == 0
    contents(tool, "b.md", "It costs what it costs.\n")
    assert tool.main(["--list", "1"]) == 1
    shown = capsys.readouterr().out
    assert "    a.md:1: It costs what it costs. It costs" in shown
    assert shown.count("beyond the limit") == 1


def test_changed_reads_only_texts_with_added_lines(
    tool: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '"""What is old."""\n\n\ndef one():\n    """Return one."""\n'
    contents(tool, "a.py", text)
    subprocess.run(["git", "add", "a.py"], check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, "commit", "-qm", "one"], check=True)
    contents(tool, "a.py", text.replace("Return one", "Return two"))
    assert tool.main(["--changed", "HEAD"]) == 0
    contents(tool, "a.py", text.replace("Return one", "Of two"))
    assert tool.main(["--changed", "HEAD", "--list", "9"]) == 1
    assert "a.py:5: Of two." in capsys.readouterr().out
