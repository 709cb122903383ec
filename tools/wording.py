"""Check the wording of documentation, comments and messages against the style guide's limits.

python3 tools/wording.py [--list N] [--changed REV] [PATH ...]

Three kinds of text are read in the tracked files below each PATH (default: the repository):

- docs: Markdown, without code and without the change log;
- comments: docstrings and comments in Python; comments in C++, shell scripts, TOML, YAML, CMake
  and the Makefile;
- messages: string literals of two words or more in Python and C++, tests excluded.

The table shows each measure with its limit. Rates are hits per 10,000 words, and a kind of text
with fewer words counts as 10,000, so that a single hit in a small change passes. ``--list N``
shows up to N places per measure; ``--changed REV`` reads only texts with a line added since REV.
The exit status is 1 beyond a limit.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("docs", "comments", "messages")
BASE_WORDS = 10_000
"""Rates are hits per this number of words."""
MAX_SENTENCE_WORDS = 40
MAX_LONGEST_SENTENCE_WORDS = 60
MAX_PARAGRAPH_CHARACTERS = 500
MAX_LONG_SENTENCES = 10
MAX_FILES_IN_FOLDER = 40


@dataclass(frozen=True)
class Rule:
    """A pattern to avoid, with the highest rate for each kind of text.

    Attributes:
        name: measure shown in the table.
        pattern: expression that matches one hit.
        limits: hits per 10,000 words in docs, comments and messages.
    """

    name: str
    pattern: re.Pattern[str]
    limits: tuple[float, float, float]


def words(*choices: str) -> str:
    """Return an expression that matches one of the words, or of the phrases over line breaks."""
    return rf"\b(?:{'|'.join(choices)})\b".replace(" ", r"\s+")


def rule(name: str, pattern: str, *limits: float) -> Rule:
    """Return the rule of a pattern that ignores case."""
    docs, comments, messages = limits
    return Rule(name, re.compile(pattern, re.I), (docs, comments, messages))


PARTICIPLE = words("told", "said", "had", "held", "meant", "brought", "heard")
RULES = (
    rule('"what" as a noun phrase', words("what") + r"(?![^.]{0,60}\?)", 8, 15, 8),
    rule(
        "is/are told, said, had, held, meant, brought, heard",
        words("is", "are", "was", "were", "be", "been") + r"\s+" + PARTICIPLE,
        *(3, 3, 3),
    ),
    rule(
        "nobody, somebody, anybody, whoever",
        words("nobody", "somebody", "anybody", "whoever"),
        *(1, 1, 1),
    ),
    rule(
        "that which, the thing that, whatever",
        words("that which", "the things? that", "whatever"),
        *(2, 2, 2),
    ),
    rule(
        "anew, likewise, altogether, in vain, lest, thereof",
        words("anew", "likewise", "altogether", "in vain", "lest", "thereof", "therein"),
        *(1, 1, 1),
    ),
    rule(
        '"is no X"',
        r"(?<!there )"
        + words("is", "are", "was", "were")
        + r"\s+no\s+(?!longer|more|one|need)[a-z]+",
        *(2, 2, 2),
    ),
    rule('"so many", "so much"', words("so many", "so much") + r"(?!\s+(?:as|that))", 1, 1, 1),
)
OPENING = re.compile(
    r"\W*(?:(?:What|Which|Whose|Who|Where|Whether|Why|How|That|Those|Of|To|From|By)|One\s+that)\b"
)
TEST_NAME = re.compile(
    r"test_(?:what|who|whose|whoever|nobody|somebody|anybody|one_that|those|all_of_it|any_other)_"
)
RECORDED = re.compile(r"(^|/)(golden|fixtures)/|(^|/)CHANGELOG\.md$")
"""Recorded texts, which keep the wording of their time."""
STARTS_BLOCK = re.compile(r"[|#]|[-*+]\s|\d+\.\s|!!!|\?\?\?|<!--")
"""Beginning of a table row, heading, list item, admonition or HTML comment."""
HASH_COMMENTS = {".sh", ".bash", ".toml", ".cmake", ".yml", ".yaml"}
"""File formats in which ``#`` begins a comment."""
CPP = {".cpp", ".hpp", ".h"}


@dataclass(frozen=True)
class Text:
    """A passage that people read.

    Attributes:
        kind: ``docs``, ``comments`` or ``messages``.
        path: file that contains it.
        first: number of its first line.
        last: number of its last line.
        content: the text, line breaks kept where the file has them.
        documents: whether it is a doc comment.
        prose: whether it is a paragraph or list item, as opposed to a heading or a table row.
        length: characters of the paragraph with its code and links, lines joined.
    """

    kind: str
    path: Path
    first: int
    last: int
    content: str
    documents: bool = False
    prose: bool = False
    length: int = 0

    def line(self, position: int) -> int:
        """Return the number of the line at a position of the content."""
        return min(self.first + self.content.count("\n", 0, position), self.last)


def markdown_texts(path: Path, text: str) -> Iterator[Text]:
    """Yield paragraphs, list items, headings and table rows, without fenced code."""
    block: list[str] = []
    lines = [*without_fences(text.splitlines()), ""]
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if block and (not bare or STARTS_BLOCK.match(bare) or block[0].startswith(("|", "#"))):
            joined = "\n".join(block)
            content = re.sub(r"`[^`]*`|\]\([^)]*\)", " x ", joined)
            prose = not block[0].startswith(("|", "#"))
            first = number - len(block)
            yield Text("docs", path, first, number - 1, content, prose=prose, length=len(joined))
            block = []
        if bare:
            block.append(bare)


def without_fences(lines: Iterable[str]) -> Iterator[str]:
    """Replace the lines of fenced code by empty ones."""
    fence = ""
    for line in lines:
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) else fence
            yield ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[:3]
            yield ""
        else:
            yield line


def python_texts(path: Path, text: str) -> Iterator[Text]:
    """Yield docstrings (those of attributes included), comments and string literals."""
    tree = ast.parse(text)
    documented: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and (value := literal(node.value)) is not None:
            documented.update(ast.walk(node.value))
            yield Text("comments", path, *span(node), value, documents=True)
    parts: set[ast.AST] = set()
    for node in ast.walk(tree):
        if node in documented or node in parts or (value := literal(node)) is None:
            continue
        parts.update(ast.walk(node))
        if is_message(path, value):
            yield Text("messages", path, *span(node), value)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = (one for one in tokens if one.type == tokenize.COMMENT)
    comments = [(one.start[0], one.string, not one.line[: one.start[1]].strip()) for one in found]
    yield from joined_comments(path, comments)


def literal(node: ast.AST) -> str | None:
    """Return the text of a string literal, with x for each replacement field; else None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "x" for part in node.values)
    return None


def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a node."""
    return node.lineno, node.end_lineno or node.lineno


def is_message(path: Path, value: str) -> bool:
    """Return whether a literal is a text for users: two words or more, not in tests or here."""
    exempt = "tests" in path.parts or path.name == Path(__file__).name
    return not exempt and " " in value.strip() and len(re.findall(r"[A-Za-z]{2,}", value)) >= 2


def joined_comments(path: Path, comments: Iterable[tuple[int, str, bool]]) -> Iterator[Text]:
    """Join comments of consecutive lines; one behind code stays alone, unless marked ``///<``.

    Args:
        path: file that contains them.
        comments: for each the number of its line, its text with its mark, and whether it stands
            alone on its line.
    """
    block: list[str] = []
    first = previous = 0
    mark, joinable = "", False
    for number, text, alone in [*comments, (-1, "", False)]:
        mark_here = (re.match(r"[#/!<]*", text) or [""])[0]
        continued = alone and (joinable or mark.endswith("<"))
        if block and not (continued and number == previous + 1 and mark_here == mark):
            documents = mark.startswith(("///", "//!"))
            yield Text("comments", path, first, previous, "\n".join(block), documents=documents)
            block = []
        if not block:
            first, mark, joinable = number, mark_here, alone
        block.append(text[len(mark_here) :].strip())
        previous = number


CPP_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<end>[^(\s"]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|'(?:\\[^'\n]*|[^'\\\n])'""",
    re.S,
)


def cpp_texts(path: Path, text: str) -> Iterator[Text]:
    """Yield comments and string literals; adjacent literals are joined."""
    comments: list[tuple[int, str, bool]] = []
    message, first, end = "", 0, -1
    for match in CPP_TOKEN.finditer(text):
        found, number = match[0], text.count("\n", 0, match.start()) + 1
        if found.startswith("//"):
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            comments.append((number, found, not before.strip()))
        elif found.startswith("/*"):
            last = number + found.count("\n")
            lines = (line.strip().lstrip("*").strip() for line in found[2:-2].splitlines())
            content = "\n".join(lines)
            documents = found.startswith(("/**", "/*!"))
            yield Text("comments", path, number, last, content, documents=documents)
        elif found.startswith('"'):
            if message and not text[end : match.start()].strip():
                message += found[1:-1]
            else:
                if is_message(path, message):
                    yield Text("messages", path, first, number, message)
                message, first = found[1:-1], number
            end = match.end()
    if is_message(path, message):
        yield Text("messages", path, first, first, message)
    yield from joined_comments(path, comments)


def hash_texts(path: Path, text: str) -> Iterator[Text]:
    """Yield the comments of a file in which ``#`` and a space begin them."""
    found = (
        (number, match)
        for number, line in enumerate(text.splitlines(), 1)
        if (match := re.search(r"(?:^|(?<=\s))#+\s.*", line))
    )
    comments = [(number, one[0], not one.string[: one.start()].strip()) for number, one in found]
    yield from joined_comments(path, comments)


def texts(path: Path) -> Iterator[Text]:
    """Yield the texts of one file; none for a file of another format."""
    if RECORDED.search(path.as_posix()) or not path.is_file() or path.is_symlink():
        return
    content = path.read_text(errors="replace")
    if path.suffix == ".md":
        yield from markdown_texts(path, content)
    elif path.suffix == ".py" or re.match(r"#!.*\bpython", content):
        yield from python_texts(path, content)
    elif path.suffix in CPP:
        yield from cpp_texts(path, content)
    elif (
        path.suffix in HASH_COMMENTS
        or path.name in ("CMakeLists.txt", "Makefile")
        or re.match(r"#!.*sh\b", content)
    ):
        yield from hash_texts(path, content)


@dataclass(frozen=True)
class Measure:
    """One row of the table.

    Attributes:
        name: measure.
        kind: kind of text, or ``tests`` or ``files``.
        limit: highest value that passes.
        found: value.
        places: where the hits are.
    """

    name: str
    kind: str
    limit: float
    found: float
    places: list[str]


def place(text: Text, position: int = 0) -> str:
    """Return the place of a hit, with the words around it."""
    around = " ".join(text.content[max(position - 40, 0) : position + 60].split())
    return f"{text.path}:{text.line(position)}: {around}"


def rates(found: Iterable[Text]) -> Iterator[Measure]:
    """Yield the rate of each rule in each kind of text."""
    total: Counter[str] = Counter()
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for text in found:
        total[text.kind] += len(re.findall(r"[A-Za-z']+", text.content))
        for one in RULES:
            places[one.name, text.kind] += [
                place(text, match.start()) for match in one.pattern.finditer(text.content)
            ]
    for one in RULES:
        for kind, limit in zip(KINDS, one.limits, strict=True):
            hits = places[one.name, kind]
            rate = len(hits) * BASE_WORDS / max(total[kind], BASE_WORDS)
            yield Measure(one.name, kind, limit, rate, hits)


def openings(found: Iterable[Text]) -> Measure:
    """Count the doc comments that open with neither a verb nor a noun."""
    hits = [place(text) for text in found if text.documents and OPENING.match(text.content)]
    return Measure(
        "doc comments that open with What, Which, Of, ...", "comments", 0, len(hits), hits
    )


def lengths(found: Iterable[Text]) -> Iterator[Measure]:
    """Yield the measures of long sentences and paragraphs in the documentation."""
    prose = [text for text in found if text.prose]
    long, longest = [], 0
    for text in prose:
        for sentence in re.split(r"(?<=[.!?])\s", text.content):
            count = len(sentence.split())
            longest = max(longest, count)
            if count > MAX_SENTENCE_WORDS:
                long.append(f"{text.path}:{text.first}: {count} words: {sentence[:80]!r}")
    name = f"sentences over {MAX_SENTENCE_WORDS} words"
    yield Measure(name, "docs", MAX_LONG_SENTENCES, len(long), long)
    yield Measure("words in the longest sentence", "docs", MAX_LONGEST_SENTENCE_WORDS, longest, [])
    beyond = [text for text in prose if text.length > MAX_PARAGRAPH_CHARACTERS]
    hits = [f"{one.path}:{one.first}: {one.length} characters" for one in beyond]
    name = f"paragraphs over {MAX_PARAGRAPH_CHARACTERS} characters"
    yield Measure(name, "docs", 0, len(hits), hits)


def test_names(paths: Iterable[Path]) -> Measure:
    """Count the tests that are not named after subject, condition and result."""
    hits = []
    for path in paths:
        if path.suffix == ".py" and "tests" in path.parts:
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if (match := re.match(r"\s*(?:async )?def (test_\w+)", line)) and TEST_NAME.match(
                    match[1]
                ):
                    hits.append(f"{path}:{number}: {match[1]}")
    return Measure("tests named test_what_..., test_one_that_...", "tests", 0, len(hits), hits)


def crowded_folders(paths: Iterable[Path]) -> Measure:
    """Count the folders with too many files, those of tests aside."""
    sizes = Counter(path.parent for path in paths if "tests" not in path.parts)
    hits = [f"{folder}: {n} files" for folder, n in sizes.items() if n > MAX_FILES_IN_FOLDER]
    name = f"folders of more than {MAX_FILES_IN_FOLDER} files"
    return Measure(name, "files", 0, len(hits), hits)


def tracked(paths: Iterable[Path]) -> list[Path]:
    """Return the files below the paths that git tracks or does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run([*command, *paths], capture_output=True, text=True, check=True)
    return sorted(
        {Path(name) for name in listed.stdout.split("\0") if name and Path(name).exists()}
    )


def added_lines(revision: str) -> dict[Path, set[int]]:
    """Return the lines of the working tree that were added since a revision, for each file."""
    command = ["git", "diff", "--relative", "--unified=0", "--no-ext-diff", revision]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines: dict[Path, set[int]] = defaultdict(set)
    path = Path()
    for line in shown.splitlines():
        if line.startswith("+++ "):
            path = Path(line[4:].removeprefix("b/"))
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))?", line):
            start = int(match[1])
            lines[path].update(range(start, start + int(match[2] or 1)))
    return lines


def measures(paths: list[Path], changed: str | None) -> list[Measure]:
    """Return all measures of the files; only of texts changed since a revision, if one is given."""
    if changed is None:
        found = [text for path in paths for text in texts(path)]
        return [
            *rates(found),
            openings(found),
            *lengths(found),
            test_names(paths),
            crowded_folders(paths),
        ]
    added = added_lines(changed)
    found = [
        text
        for path in paths
        if path in added
        for text in texts(path)
        if added[path].intersection(range(text.first, text.last + 1))
    ]
    return [*rates(found), openings(found), *lengths(found)]


def main(arguments: list[str] | None = None) -> int:
    """Print the table; return 1 if a measure is beyond its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, default=[Path()], metavar="PATH")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="places per measure")
    parser.add_argument("--changed", metavar="REV", help="only texts with a line added since REV")
    options = parser.parse_args(arguments)
    table = measures(tracked(options.paths), options.changed)
    print(f"{'measure':56}{'of':10}{'limit':>7}{'found':>9}")
    for one in table:
        mark = "  beyond the limit" if one.found > one.limit else ""
        print(f"{one.name:56}{one.kind:10}{one.limit:7g}{one.found:9.4g}{mark}")
        for hit in one.places[: options.list]:
            print(f"    {hit}")
    return int(any(one.found > one.limit for one in table))


if __name__ == "__main__":
    sys.exit(main())
