"""Generated pages of the site agree with the parser, the registry and the schemas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.docs import commands, exit_status, generated

import assay.api
from assay.cli.parsing.grammar import VERBS, build
from assay.cli.parsing.parser import verb_parsers
from assay.cli.schemas import DOCUMENTS
from assay.settings.registry import builtin

ROOT = Path(__file__).resolve().parents[2]
PAGES = generated.pages(ROOT / "docs")
VERB_PAGES = ROOT / "docs" / generated.VERBS
NAVIGATION = (ROOT / "mkdocs.yml").read_text()


def page_of(verb: str) -> str:
    """Return the page of a verb as the site shows it."""
    return generated.expand((VERB_PAGES / f"{verb}.md").read_text())


def test_page_of_the_python_api_lists_every_public_name() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    listed = re.findall(r"members:((?: \[.*\])|(?:\n +- \w+)+)", page)
    names = {name for text in listed for name in re.findall(r"\w+", text)}
    assert {*assay.api.MODULES, "get_include", "progress"} <= names


def test_every_verb_has_a_page() -> None:
    assert sorted(path.stem for path in VERB_PAGES.glob("*.md")) == sorted(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_has_every_option(verb: str) -> None:
    page = page_of(verb)
    for option in verb_parsers(build())[verb]._option_string_actions:
        assert re.search(rf"`[^`]*(?<![\w-]){re.escape(option)}(?![\w-])[^`]*` \|", page), option


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_has_every_action(verb: str) -> None:
    parser = verb_parsers(build())[verb]
    for action in parser._actions:
        if action.dest == "action":
            assert all(f"\n| `{name}` |" in page_of(verb) for name in action.choices or ())


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_has_synopsis_and_exit_statuses(verb: str) -> None:
    page = page_of(verb)
    assert commands.usage(commands.command(verb)) in page
    assert exit_status.table(verb) in page
    assert "<!--" not in page


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_has_one_marker_of_each_kind_for_itself(verb: str) -> None:
    found = [match.groups() for match in generated.MARKER.finditer(text_of(verb))]
    own = [kind for kind, name in found if kind not in ("document", "type") and name == verb]
    assert len(own) == len(set(own)) >= 3
    assert {name for kind, name in found if kind == "document"} <= set(DOCUMENTS)


def text_of(verb: str) -> str:
    """Return the page of a verb as the repository holds it."""
    return (VERB_PAGES / f"{verb}.md").read_text()


def test_marker_takes_its_paragraph_along() -> None:
    text = "a\n\n<!-- generated: usage schema -->\nfallback\nfallback\n\nb\n"
    assert generated.expand(text) == ("a\n\n```text\nassay schema [NAME] [options]\n```\n\nb\n")


def test_unknown_marker_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown part 'nothing'"):
        generated.expand("<!-- generated: nothing tune -->\n")


def test_default_of_option_is_a_column() -> None:
    table = commands.options(commands.command("run"))
    assert "| `--partition NAME` | Partition to reserve from. | the only one that exists |" in table
    assert "(default:" not in table


def test_title_that_lists_actions_becomes_a_phrase() -> None:
    page = commands.options(commands.command("study"))
    assert "### Options of confirm and calibrate\n" in page
    assert "| `ACTION` | One of the actions above. |" in page


def test_exit_statuses_name_verbs_only() -> None:
    assert {*exit_status.OF_ONE, exit_status.TRANSPARENT, *exit_status.PAUSES} <= set(VERBS)


def test_page_of_settings_has_every_setting() -> None:
    page = PAGES["reference/all-settings.md"]
    assert [s.name for s in builtin() if f"`{s.name}`" not in page] == []


@pytest.mark.parametrize("path", PAGES)
def test_generated_page_is_in_the_navigation(path: str) -> None:
    assert f": {path}\n" in NAVIGATION


@pytest.mark.parametrize("verb", VERBS)
def test_page_of_verb_is_in_the_navigation(verb: str) -> None:
    assert f"- {verb}: {generated.VERBS}/{verb}.md\n" in NAVIGATION


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
