"""Manual pages name every option and are accepted by the formatter."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tools.docs import manual

from assay.cli.parsing.grammar import VERBS, build
from assay.cli.parsing.parser import verb_parsers

PAGES = manual.pages()


def test_main_page_lists_every_verb() -> None:
    assert all(f".BR assay\\-{verb} (1)" in PAGES["assay.1"] for verb in VERBS)
    assert set(PAGES) == {"assay.1", *(f"assay-{verb}.1" for verb in VERBS)}


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_names_every_option(verb: str) -> None:
    page = PAGES[f"assay-{verb}.1"]
    for option in verb_parsers(build())[verb]._option_string_actions:
        assert "\\fB" + option.replace("-", "\\-") + "\\fR" in page


@pytest.mark.parametrize("option", ["progress", "progress-file", "until", "fidelity"])
def test_page_of_tune_describes_options_of_long_programs(option: str) -> None:
    assert "\\fB\\-\\-" + option.replace("-", "\\-") + "\\fR" in PAGES["assay-tune.1"]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_formatted_without_warning(name: str, tmp_path: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    page = tmp_path / name
    page.write_text(PAGES[name])
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", page]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
