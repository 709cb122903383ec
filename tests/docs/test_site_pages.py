"""Generated pages of the site agree with the parser, the registry and the schemas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.docs import commands, exit_status, generated, schemas

from assay.cli.parsing.grammar import VERBS, build
from assay.cli.parsing.parser import verb_parsers
from assay.cli.schemas import DOCUMENTS
from assay.settings.registry import builtin

ROOT = Path(__file__).resolve().parents[2]
PAGES = generated.pages(ROOT / "docs")
NAVIGATION = (ROOT / "mkdocs.yml").read_text()


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_has_every_option(verb: str) -> None:
    page = PAGES[f"reference/commands/{verb}.md"]
    for option in verb_parsers(build())[verb]._option_string_actions:
        assert re.search(rf"`[^`]*(?<![\w-]){re.escape(option)}(?![\w-])[^`]*` \|", page), option


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_has_exit_statuses(verb: str) -> None:
    assert exit_status.table(verb) in PAGES[f"reference/commands/{verb}.md"]


def test_exit_statuses_name_verbs_only() -> None:
    assert {*exit_status.OF_ONE, exit_status.TRANSPARENT, *exit_status.PAUSES} <= set(VERBS)
    assert {name for names in schemas.OF_VERB.values() for name in names} <= set(DOCUMENTS)
    assert set(schemas.OF_VERB) <= set(VERBS)


def test_page_of_settings_has_every_setting() -> None:
    page = PAGES["reference/all-settings.md"]
    assert [s.name for s in builtin() if f"`{s.name}`" not in page] == []


@pytest.mark.parametrize("path", PAGES)
def test_generated_page_is_in_the_navigation(path: str) -> None:
    assert f": {path}\n" in NAVIGATION


@pytest.mark.parametrize("name", DOCUMENTS)
def test_page_of_document_defines_each_type_once(name: str) -> None:
    page = PAGES[f"reference/documents/{name}.md"]
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert len(headings) == len(set(headings)) > 0
    targets = set(re.findall(r"\]\(#(\w+)\)", page))
    assert targets <= {heading.lower() for heading in headings}


def test_prose_escapes_markup_and_keeps_code() -> None:
    assert commands.prose("a|b <c> 'x * <y>'") == r"a\|b \<c\> `x * <y>`"
    assert commands.code("a|b") == r"`a\|b`"
