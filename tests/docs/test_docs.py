"""The documentation is correct: its examples run, and the names in it exist.

Fenced blocks, by the words after the language:

``sh``                    run, in the order of the page, in a folder of the page's own
``sh status=N``           run, and must end with status N
``sh budget=Nruns``       run with ``--runs N`` in place of its ``--budget``, so that the tests
                          stay short; ``-m slow`` runs it as it is written
``sh slow=yes``           run with ``-m slow`` only
``python file=F`` and so  written to the file F when the page comes to it
``output``                lines printed by the block before it, in order: ``…`` stands for
                          anything, a number for any number
``output settings=more``  the same; a configuration may contain further settings
``text``                  an example of possible output; not compared
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tools.docs import generated

import assay
from assay.cli.parsing.grammar import build
from assay.cli.parsing.parser import parse
from assay.cli.schemas import DOCUMENTS, schema
from assay.errors import InvalidInputError
from assay.machine.checks import CHECKS
from assay.partition.share_request import KEYS
from assay.settings.registry import builtin
from json_schemas import assert_valid

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = frozenset(generated.pages(DOCS))
"""Pages that are generated when the site is built."""
EXECUTED = [
    page
    for page in PAGES
    if page.parent.name in ("howto", "tutorial") or page.name == "catalogue.md"
]
FIRST = "guide.md"
"""Page that every run of the tests executes."""
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
"""Pages at the top of the repository."""
BLOCK_TIMEOUT_S = 120.0
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
ELLIPSIS = "…"
NUMBER = r"\d+(?:\.\d+)?"
TIME_UNIT = r" (?:us|ms|s)\b"
SETTING = r"(?<!\S)[a-z_.]+=\S+"
FURTHER = "\x1f"
"""Place at which a printed configuration may have further settings."""


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS))


@dataclass(frozen=True)
class Block:
    language: str
    options: dict[str, str]
    text: str
    line: int


@dataclass(frozen=True)
class Page:
    """Return a page as blocks, and as prose without them."""

    blocks: list[Block]
    prose: str

    @property
    def spans(self) -> list[str]:
        return SPAN.findall(self.prose)


def read(page: Path) -> Page:
    text = page.read_text()
    blocks = []
    for match in FENCE.finditer(text):
        indent, info, body = match.groups()
        language, *words = info.split() or [""]
        lines = (line.removeprefix(indent) for line in body.splitlines(keepends=True))
        options = dict(word.split("=", 1) for word in words)
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(language, options, "".join(lines), line))
    return Page(blocks, FENCE.sub("", text))


# --- running the examples ---------------------------------------------------------------------


@pytest.fixture
def launcher(request: pytest.FixtureRequest) -> str:
    """Return the named launcher, or the package's own, or the last one built."""
    if named := os.environ.get("ASSAY_EXEC"):
        return named
    packaged = Path(assay.__file__).parent / "_native" / "assay-exec"
    return str(packaged if packaged.exists() else request.getfixturevalue("assay_exec"))


@pytest.fixture
def noise_meter(request: pytest.FixtureRequest) -> str:
    """Return the noise meter, found in the same way."""
    packaged = Path(assay.__file__).parent / "_native" / "assay-noise"
    return str(packaged if packaged.exists() else request.getfixturevalue("assay_noise"))


@pytest.fixture
def environment(tmp_path: Path, launcher: str, noise_meter: str) -> dict[str, str]:
    """Return an environment with this ``assay``, its ``python3``, and a new store."""
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "assay"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m assay "$@"\n')
    command.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "OPENBLAS_"))}
    return {
        **kept,
        "PATH": f"{programs}:{Path(sys.executable).parent}:{kept['PATH']}",
        "PYTHONPATH": os.pathsep.join(
            [str(Path(assay.__file__).parents[1]), *filter(None, [kept.get("PYTHONPATH")])]
        ),
        "ASSAY_DB": str(tmp_path / "assay.db"),
        "ASSAY_EXEC": launcher,
        "ASSAY_NOISE": noise_meter,
        "HOME": str(tmp_path),
    }


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page.name == FIRST else pytest.mark.rotating)
        for page in EXECUTED
    ],
    ids=name_of,
)
def test_examples_run(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    # Threads of OpenBLAS that wait for each other on busy CPUs have made a launch
    # of 0.2 s one of 11 s.
    run_page(page, tmp_path, {**environment, "OPENBLAS_NUM_THREADS": "1"}, short=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", EXECUTED, ids=name_of)
def test_examples_run_with_their_own_budgets(
    page: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    run_page(page, tmp_path, environment, short=False)


def run_page(page: Path, tmp_path: Path, environment: dict[str, str], *, short: bool) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    printed = ""
    for block in read(page).blocks:
        where = f"{name_of(page)}:{block.line}"
        if "file" in block.options:
            (folder / block.options["file"]).write_text(block.text)
        elif block.language == "sh" and not (short and "slow" in block.options):
            printed = run_block(block, where, folder, environment, short=short)
        elif block.language == "output":
            missing = unmatched(block.text, printed, more_settings="settings" in block.options)
            assert missing is None, f"{where}: {missing!r} is not in\n{printed}"
        else:
            assert block.language in ("sh", "text"), f"{where}: what is {block.language!r}?"


def run_block(
    block: Block, where: str, folder: Path, environment: dict[str, str], *, short: bool
) -> str:
    text = block.text
    if short and "budget" in block.options:
        text, replaced = re.subn(
            r"--budget \S+", f"--runs {block.options['budget'].removesuffix('runs')}", text
        )
        assert replaced, f"{where}: there is no budget to replace"
    status, printed = shell(text, folder, environment, BLOCK_TIMEOUT_S if short else None)
    wanted = int(block.options.get("status", "0"))
    assert status == wanted, f"{where}: status {status}, not {wanted}\n{text}\n{printed}"
    assert "Traceback" not in printed, f"{where}:\n{printed}"
    return printed


def shell(
    text: str, folder: Path, environment: dict[str, str], timeout_s: float | None
) -> tuple[int, str]:
    """Return the status and output of a script; its processes end with the test."""
    with subprocess.Popen(
        ["/bin/sh", "-eu", "-c", text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=timeout_s)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
    return process.returncode, printed


def unmatched(wanted: str, printed: str, *, more_settings: bool = False) -> str | None:
    """Return the first line of ``wanted`` that is not among the printed ones, in order.

    With ``more_settings`` a printed configuration may contain further settings: on a busy machine a
    search cannot always exclude that a setting has an effect.
    """
    lines = iter(printed.splitlines())
    for line in filter(str.strip, wanted.splitlines()):
        pattern = pattern_of(line, more_settings=more_settings)
        if not any(pattern.fullmatch(candidate.strip()) for candidate in lines):
            return line
    return None


def pattern_of(line: str, *, more_settings: bool = False) -> re.Pattern[str]:
    text = re.sub(SETTING, rf"\g<0>{FURTHER}", line.strip()) if more_settings else line.strip()
    parts = re.split(rf"({ELLIPSIS}|{FURTHER}|{NUMBER}{TIME_UNIT}|{NUMBER}|\s+)", text)
    return re.compile("".join(map(_part, parts)))


def _part(text: str) -> str:
    if text == ELLIPSIS:
        return ".*"
    if text == FURTHER:
        return rf"(?: {SETTING})*"
    if text.isspace():
        return r"\s+"
    if not text[:1].isdigit():
        return re.escape(text)
    return NUMBER + (TIME_UNIT if re.search(TIME_UNIT, text) else "")


def test_expected_output_can_fail() -> None:
    assert unmatched("ran 3 of … times", "x\nran 12.5 of  many times\n") is None
    assert unmatched("ran 3 times", "ran three times") == "ran 3 times"
    assert unmatched("b\na", "a\nb") == "a"
    assert unmatched("took 316 ms, 3 runs", "took 1.06 s, 4 runs") is None
    assert unmatched("took 3 ms", "took 3 km") == "took 3 ms"
    assert unmatched("a.b=3 wins", "a.b=4 thp=never wins") == "a.b=3 wins"
    assert unmatched("a.b=3 wins", "a.b=4 thp=never wins", more_settings=True) is None
    assert unmatched("a.b=3 wins", "a.c=4 thp=never wins", more_settings=True) == "a.b=3 wins"


# --- links ------------------------------------------------------------------------------------


def slug(heading: str) -> str:
    """Return the anchor of a heading, as code forges generate it."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=str)
def test_links_have_targets(page: Path) -> None:
    for target in LINK.findall(read(page).prose):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        if other.is_relative_to(DOCS) and name_of(other) in GENERATED:
            continue  # mkdocs checks links to these pages, and their anchors
        assert other.exists(), f"{target} is not there"
        assert other.is_relative_to(ROOT), f"{target} leaves the repository"
        if anchor:
            prose = read(other).prose
            anchors = {*map(slug, HEADING.findall(prose)), *ANCHOR.findall(prose)}
            assert anchor in anchors, f"{target}: there are {sorted(anchors)}"


def test_every_page_is_reachable_from_index() -> None:
    named = {(DOCS / t.partition("#")[0]).resolve() for t in LINK.findall(read_index())}
    assert {p for p in PAGES if p != DOCS / "index.md"} <= named


def read_index() -> str:
    return (DOCS / "index.md").read_text()


def test_every_check_has_a_row() -> None:
    page = (DOCS / "reference" / "machine-checks.md").read_text()
    rows = re.findall(r"^\| `([a-z_.]+)` \| .+ \| .+ \| .+ \| .+ \|$", page, re.MULTILINE)
    assert rows == [check.id for check in CHECKS]


# --- options, settings, messages -------------------------------------------------------------


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from options_of(sub)


OPTIONS = frozenset(options_of(build()))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_exist(page: Path) -> None:
    for span in read(page).spans:
        if not span.startswith(("--", "assay ")):
            continue
        # Words after a lone `--` belong to another program.
        own = re.split(r"\s--(?:\s|$)", span)[0]
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"'[^']*'", "", own)):
            assert option in OPTIONS, f"{option} in `{span}`"


def commands_in(page: Path) -> Iterator[list[str]]:
    """Return the arguments of each ``assay`` command in the page's shell blocks."""
    for block in read(page).blocks:
        if block.language != "sh":
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            if not re.search(r"(^|\s)assay\s+[a-z-]", line):
                continue
            words = shlex.split(line.split(" | ")[0] if "--shell" not in line else line)
            words = words[words.index("assay") + 1 :]
            stop = [i for i, w in enumerate(words) if w in (">", "|")]
            yield words[: stop[0]] if stop else words


@pytest.mark.parametrize("page", EXECUTED, ids=name_of)
def test_commands_parse(page: Path) -> None:
    for words in commands_in(page):
        assert parse(words).arguments.verb


NOT_SETTINGS = frozenset(
    (
        *("mem", "procs", "cpu", "output", "name", "throughput", "fps", "checksum", "inertia"),
        "storage",
        *("ratio", "selinux", "lwkcpus", "lwkmem", *KEYS),
        *("hugepages", "hugepagesz", "mitigations", "nosmt"),  # words of a command line
        *("direction", "chunk", "blocks", "damage"),  # parameters of a case
        "n",  # of a published summary
        *("budget", "sps", "progress", "constraints", "prefix", "names", "history", "study"),
        *("default", "step", "goal", "runs"),  # keywords of the Python API
    )
)
"""Left sides of an equals sign that stand for something else."""
CASE_PARAMETERS = re.compile(r"Parameters: (?:`[a-z0-9-]+=[^`]+`(?:, |\. ))+")
"""Parameters of a case, in the benchmark page that the tool of the kernels writes."""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_settings_exist(page: Path) -> None:
    registry = builtin()
    for span in SPAN.findall(CASE_PARAMETERS.sub("", read(page).prose)):
        for name in re.findall(r"(?:^|\s)([a-z]+(?:\.[a-zA-Z_]+)?)=\S", span):
            if name in NOT_SETTINGS or span.startswith(("chrt", "glibc")):
                continue
            try:
                registry.get(name)
            except InvalidInputError:
                pytest.fail(f"{name} in `{span}` is no setting")


def templates() -> list[str]:
    """Return every string literal of the sources, with an ellipsis for replacement fields."""
    found = []
    for path in sorted((ROOT / "src" / "assay").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else ELLIPSIS for p in node.values)
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


def letters(text: str) -> str:
    """Return a text without replacement fields, white space and the final full stop."""
    return re.sub(r"[…\s]+", " ", text).strip(" .")


def test_messages_in_troubleshooting_are_those_of_the_sources() -> None:
    launcher = (path.read_text() for path in (ROOT / "native" / "launcher").rglob("*.cpp"))
    known = "\n".join(letters(text) for text in (*templates(), *launcher))
    page = (DOCS / "howto" / "troubleshooting.md").read_text()
    rows = re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE)
    assert len(rows) > 50
    for span in (s for row in rows for s in SPAN.findall(row)):
        assert letters(span.removeprefix("note: ")) in known, f"no source says {span!r}"


def test_messages_of_the_tier_are_those_of_its_library() -> None:
    sources = (path.read_text() for path in (ROOT / "native" / "tier").rglob("*.?pp"))
    # A text may go on in the next line, as the compiler reads it.
    known = re.sub(r'"\s*"', "", "\n".join(sources))
    page = (DOCS / "howto" / "troubleshooting.md").read_text()
    section = page.split("come from the library in the program")[1].split("\n## ")[0]
    bullets = re.findall(r"^- (`.+?)$", section, re.MULTILINE)
    assert len(bullets) > 10
    spans = (span for bullet in bullets for span in SPAN.findall(bullet))
    for span in spans:
        if " " not in span or span.startswith(("assay", "ulimit")):
            continue  # a word of the text around
        for part in re.split(rf"[{ELLIPSIS}()]", span):
            result = part.strip(" :")
            assert result in known, f"the library does not say {result!r}"


# --- JSON keys ------------------------------------------------------------------------------

WRITER = "import time; print('x' * 9999, flush=True); time.sleep(0.2)"
PROGRAM = "import time; x = bytearray({n} << 20); time.sleep({n} / 1000)"
SWEEP = """\
[workload]
command = "echo figure={n}{m}"
metrics = ["figure=figure=([0-9]+)"]
[settings]
arg.n = [1, 2]
arg.m = [3, 4]
nice = [0, 5]
[design]
kind = "factorial"
generators = ["nice = arg.n * arg.m"]
repeats = 1
[study]
null = true
warmup = 0
"""
"""Half of a factorial design, so that each key of an effect is there."""


@dataclass
class Documents:
    """Return the JSON output of each verb."""

    found: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, verb: str, text: str) -> None:
        self.found.setdefault(verb, []).append(json.loads(text))


@pytest.fixture
def documents(tmp_path: Path, environment: dict[str, str]) -> Documents:
    """Return one document of each kind, with all optional parts."""
    found = Documents()

    def assay_says(*words: str) -> str:
        done = subprocess.run(
            ["assay", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    program = ["--", sys.executable, "-c"]
    # `placement` alone is degraded on every machine, and says why; `nice` is read back.
    settings = ["--with", "placement=compact", "nice=5"]
    assay_says("run", *settings, "--record", "r.json", *program, PROGRAM.replace("{n}", "40"))
    found.add("run", (tmp_path / "r.json").read_text())
    limited = ["--limit", "output=1K"]
    assay_says("measure", "--runs", "7", *limited, *program, WRITER)
    shown = assay_says("study", "show", "last", "--json")
    found.add("study show", shown)
    for sample in json.loads(shown)["samples"]:
        found.add("run", json.dumps(sample))
    measured = assay_says("measure", "--json", "--runs", "8", *program, "pass")
    found.add("measure", measured)
    found.add("study show", assay_says("study", "show", "last", "--json"))
    compared = ["--runs", "30", "sleep 0.01", "sleep 0.02"]
    found.add("compare", assay_says("compare", "--json", "--null", *compared))
    (tmp_path / "sweep.toml").write_text(SWEEP)
    found.add("sweep", assay_says("sweep", "sweep.toml", "--json"))
    tuned = ["--null", "--runs", "70", "arg.n=20,5"]
    found.add("tune", assay_says("tune", "--json", *tuned, *program, PROGRAM))
    again = ["--runs", "40", "--warm-start", "last", "arg.n=20,5"]
    found.add("tune", assay_says("tune", "--json", *again, *program, PROGRAM))
    few = ["--runs", "8", "--budget", "60s", "arg.n=20,5"]  # too few for a proof
    found.add("tune", assay_says("tune", "--json", *few, *program, PROGRAM))
    calibrate = ["study", "calibrate", "--json", "--disturbed-above", "never"]
    many = json.loads(assay_says(*calibrate, "--runs", "61", *program, "pass"))
    found.add("study calibrate", json.dumps(many))
    found.add("compare", assay_says("compare", "--json", *compared))
    found.add("study list", assay_says("study", "list", "--json"))
    # A tree of one file, so that a remedy with each of its keys is there on every machine.
    swaps = tmp_path / "tree" / "proc" / "swaps"
    swaps.parent.mkdir(parents=True)
    swaps.write_text("Filename Type Size Used Priority\n/a file 9 9 -2\n")
    checked = assay_says("machine", "check", "--json", "--root", str(tmp_path / "tree"))
    found.add("machine check", checked)
    return found


def test_documents_match_their_schemas(documents: Documents) -> None:
    assert set(documents.found) == set(SCHEMA_OF)
    for verb, found in documents.found.items():
        for document in found:
            assert document["schema"] == 2
            assert_valid("study-sample" if "stratum" in document else SCHEMA_OF[verb], document)


SCHEMA_OF = {
    "compare": "compare",
    "machine check": "machine-check",
    "measure": "measure",
    "run": "sample",
    "study calibrate": "calibrate",
    "study list": "study-list",
    "study show": "study-show",
    "sweep": "sweep",
    "tune": "tune",
}
"""Name of the schema of each verb's documents."""


def test_closed_schema_rejects_unknown_key() -> None:
    one = {"schema": 2, "studies": []}
    assert_valid("study-list", one)
    with pytest.raises(AssertionError, match="unknown"):
        assert_valid("study-list", {**one, "unknown": 1})


def test_machine_show_matches_its_schema(environment: dict[str, str]) -> None:
    shown = subprocess.run(
        ["assay", "machine", "show", "--json"], env=environment, capture_output=True, check=True
    )
    assert_valid("machine-show", json.loads(shown.stdout))


TWO_VARIANTS = ("--variant", "plain", "--variant", "threads")
PRINTED = {
    "case-list": ("case", "list"),
    "case-run": ("case", "run", "bandwidth", *TWO_VARIANTS, "--size", "L2", "--runs", "14"),
    "case-show": ("case", "show", "lu"),
    "doctor": ("doctor",),
    "schema": ("schema",),
    "settings-list": ("settings", "list"),
    "settings-show": ("settings", "show", "malloc"),
}
"""Commands that print a document, by the name of its schema."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.rotating if name == "case-run" else ())
        for name in PRINTED
    ],
)
def test_printed_document_matches_its_schema(name: str, environment: dict[str, str]) -> None:
    command = ["assay", *PRINTED[name], "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode == 3 and name.startswith("case"):
        pytest.skip("this build lacks the native programs")
    assert done.returncode == 0, done.stderr
    assert_valid(name, json.loads(done.stdout))


def test_documents_on_stored_study_match_their_schemas(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    def run(*words: str, status: int = 0) -> Any:
        done = subprocess.run(
            ["assay", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)

    run("measure", "--json", "--runs", "7", "--", "true")
    assert_valid("report", run("report", "last", "--json"))
    files = ["--bundle", "study.zip", "--csv", "study.csv"]
    assert_valid("study-export", run("study", "export", "last", "--json", *files))
    assert_valid("study-verify", run("study", "verify", "--json", "study.zip"))
    for damaged in ("samples.jsonl", "manifest.json"):
        with (
            zipfile.ZipFile(tmp_path / "study.zip") as bundle,
            zipfile.ZipFile(tmp_path / "damaged.zip", "w") as copy,
        ):
            for entry in bundle.namelist():
                content = b"{}" if entry.endswith(damaged) else bundle.read(entry)
                copy.writestr(bundle.getinfo(entry), content)
        found = run("study", "verify", "--json", "damaged.zip", status=1)
        assert_valid("study-verify", found)
    assert_valid("study-delete", run("study", "delete", "last", "--json"))


def test_schema_lists_and_prints_every_document(environment: dict[str, str]) -> None:
    def printed(*words: str) -> str:
        command = ["assay", "schema", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True).stdout

    assert [line.split()[0] for line in printed().splitlines()] == list(DOCUMENTS)
    assert set(json.loads(printed("--json"))["schemas"]) == set(DOCUMENTS)
    assert json.loads(printed("tune")) == json.loads(json.dumps(schema("tune")))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schema_is_valid(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(schema(name))


COMMANDS = {
    "partition-list": ("partition", "list"),
    "machine-noise": ("machine", "noise", "--seconds", "0.1"),
    "machine-snapshot": ("machine", "snapshot", "-o", "machine.tar.gz"),
    "machine-diff": ("machine", "diff", "machine.tar.gz"),
    "tier-doctor": ("tier", "doctor"),
}
"""Commands that print a document, by the name of its schema, in the order of the runs."""


def test_documents_of_commands_match_their_schemas(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    for name, words in COMMANDS.items():
        command = ["assay", *words, "--json"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        if done.returncode == 3 and name.startswith("tier"):
            continue  # this build lacks the native programs
        assert done.returncode in (0, 1), done.stderr
        assert_valid(name, json.loads(done.stdout))


# --- tables of keys on the pages of the verbs -------------------------------------------------

VERB_PAGES = DOCS / generated.VERBS


def test_every_document_has_a_table_on_the_page_of_its_verb() -> None:
    pages = "".join(page.read_text() for page in VERB_PAGES.glob("*.md"))
    for name, document in DOCUMENTS.items():
        if document.summary.startswith("assay "):
            assert f"<!-- generated: document {name} -->" in pages, name


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=str)
def test_rows_belong_to_a_table(page: Path) -> None:
    """A blank line ends a table: later rows would be shown with their pipes."""
    assert not rows_without_head(FENCE.sub("", page.read_text()))


def test_row_without_header_is_found() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert not rows_without_head(f"{table}\ntext\n\n{table}")
    assert rows_without_head(f"{table}\n| 3 | 4 |\n") == ["| 3 | 4 |"]


def rows_without_head(text: str) -> list[str]:
    """Return the first row of each table that has no head."""
    rule = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
    blocks = re.findall(r"(?:^ *\|.*\n?)+", text, re.MULTILINE)
    tables = [[row.strip() for row in block.splitlines()] for block in blocks]
    return [rows[0] for rows in tables if len(rows) < 2 or not rule.fullmatch(rows[1])]
