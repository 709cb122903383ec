"""An arm that hangs now and then: the answer gives that as the reason, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.system

PROGRAM = """\
if [ "$1" = b ]; then
    echo launch >> launches
    test $(($(wc -l < launches) % 10)) = "$2" && exec sleep 60
    exec sleep 0.03
fi
exec sleep 0.12
"""
WORDS = (
    *("--timeout", "0.4s", "--runs", "36", "--disturbed-above", "never"),
    *("--export", "answer.md", "--export", "answer.json"),
)
OF_OTHERS = re.compile(
    r"[Oo]ther processes|[Oo]thers (used|took|disturbed)|disturbed|all would decide"
)


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    (tmp_path / "program").write_text(PROGRAM)
    return CommandLine(assay_exec, tmp_path)


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("words", "number"),
    [(("compare", "--arm", "arg.x=a", "--arm", "arg.x=b"), "4"), (("tune", "arg.x=a,b"), "8")],
    ids=["compare", "tune"],
)
def test_hanging_arm_is_reported_with_its_own_reason(
    cli: CommandLine, words: tuple[str, ...], number: str
) -> None:
    """Hang in one launch of ten; a search stops its first launches sooner, and tells them apart."""
    answer = cli(*words, *WORDS, "--", "sh", "program", "{x}", number)
    assert answer.status == 0, answer.err
    document = json.loads((cli.folder / "answer.json").read_text())
    (claim,) = document["claims"]
    assert claim["verdict"] == "unclear"
    assert re.search(r"\d+ of \d+ launches of arg.x=b did not end", claim["data_problem"])
    assert "blocks_needed" not in claim
    texts = [answer.out, (cli.folder / "answer.md").read_text(), *document["notes"]]
    assert all(claim["data_problem"] in text for text in texts[:2])
    for text in (*texts, document["stop_reason"]):
        assert not OF_OTHERS.search(text), text
