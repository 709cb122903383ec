"""Code that a command runs in a Python interpreter, and the packages that it imports.

No code of the program is run. Interface: ``python(1)``; ``importlib`` for the search of modules.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from assay.machine.root import Root

_NAME = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?t?", re.ASCII)
_VALUED = "WX"
_QUERY = "import sys;print(repr((sys.executable,[p for p in sys.path if p])))"
"""Query that imports only built-in modules: with ``-c`` the working directory could shadow others.
"""
_QUERY_TIMEOUT_S = 10.0
_MAX_FILES = 64
_MAX_FILE_BYTES = 2 * 2**20


class Call(msgspec.Struct, frozen=True):
    """Call of an interpreter.

    Attributes:
        form: how the program is given.
        target: file name of the script, name of the module, or the code itself.
        options: options of the interpreter.
    """

    form: Literal["script", "module", "code", "none"]
    target: str = ""
    options: tuple[str, ...] = ()


class Interpreter(msgspec.Struct, frozen=True):
    """An interpreter's own file, and its package directories."""

    executable: str
    folders: tuple[str, ...]


class Imports(msgspec.Struct, frozen=True):
    """Top-level names of imported packages, and the files that were read to find them."""

    packages: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()


def is_python(name: str) -> bool:
    """Return whether a program of this name is a Python interpreter."""
    return _NAME.fullmatch(name) is not None


def parse_call(words: tuple[str, ...]) -> Call:
    """Return the call in the arguments of an interpreter."""
    options: list[str] = []
    at = 0
    while at < len(words) and len(words[at]) > 1 and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word.startswith("--"):
            options.append(word)
            continue
        for place, letter in enumerate(word[1:], 1):
            if letter not in "cm" + _VALUED:
                continue
            value = word[place + 1 :] or (words[at] if at < len(words) else "")
            if letter in _VALUED:
                options += [word] if word[place + 1 :] else [word, value]
                at += 0 if word[place + 1 :] else 1
                break
            before = word[1:place]
            options += [f"-{before}"] if before else []
            return Call("code" if letter == "c" else "module", value, tuple(options))
        else:
            options.append(word)
    if at < len(words) and words[at] != "-":
        return Call("script", words[at], tuple(options))
    return Call("none", "", tuple(options))


def query_interpreter(
    root: Root, path: str, options: tuple[str, ...], env: Mapping[str, str], cwd: str
) -> Interpreter:
    """Return the package directories of an interpreter: by a query, or guessed from its path.

    It is run only on the running host. Behind a wrapper script (pyenv, a container's shim) its own
    file differs from ``path``.
    """
    answer = _run(path, options, env, cwd) if root.live else None
    return answer or Interpreter(path, _usual_folders(root, path))


def find_imports(root: Root, call: Call, folders: tuple[str, ...], cwd: str) -> Imports:
    """Return the packages that a call imports, also through modules beside its script.

    Names are read from the source, at any position. Modules of the standard library are left out
    and, if ``folders`` are known, packages that are in none of them. Modules in the user's
    directories (``PYTHONPATH``, editable installations) are read like the script.
    """
    walk = _SourceSearch(root, folders)
    own = [folder for folder in folders if _is_user_folder(root, folder)]
    if call.form == "script":
        script = call.target if call.target.startswith("/") else f"{cwd}/{call.target}"
        walk.beside.append(script.rpartition("/")[0] or "/")
        walk.beside += own
        walk.waiting.append(script)
    elif call.form == "code":
        walk.beside += [cwd, *own]
        walk.read(call.target.encode(), None)
    elif call.form == "module":
        walk.beside += [cwd, *own]
        walk.add_module(call.target)
        walk.add_module(f"{call.target}.__main__")
    return walk.result()


def _is_user_folder(root: Root, folder: str) -> bool:
    """Return whether a directory has the user's own modules."""
    installed = folder.endswith(("-packages", ".zip", "lib-dynload"))
    return not installed and not root.exists(f"{folder}/os.py")


def _run(
    path: str, options: tuple[str, ...], env: Mapping[str, str], cwd: str
) -> Interpreter | None:
    import subprocess

    try:
        answer = subprocess.run(
            [path, *options, "-c", _QUERY],
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_QUERY_TIMEOUT_S,
            check=True,
        )
        executable, folders = ast.literal_eval(answer.stdout.decode().splitlines()[-1])
        return Interpreter(str(executable), tuple(str(folder) for folder in folders))
    except (OSError, subprocess.SubprocessError, ValueError, SyntaxError, IndexError, TypeError):
        return None


def _usual_folders(root: Root, path: str) -> tuple[str, ...]:
    found = []
    for place in dict.fromkeys((path, root.real(path) or path)):
        prefix = place.rpartition("/")[0].rpartition("/")[0]
        for lib in ("lib", "local/lib"):
            for name in root.listdir(f"{prefix}/{lib}"):
                if name.startswith("python3"):
                    found += [f"{prefix}/{lib}/{name}/{end}-packages" for end in ("site", "dist")]
    return tuple(folder for folder in dict.fromkeys(found) if root.exists(folder))


class _SourceSearch:
    """A search through the sources of a program."""

    def __init__(self, root: Root, folders: tuple[str, ...]) -> None:
        self._root = root
        self._folders = folders
        self.beside: list[str] = []
        self.waiting: list[str] = []
        self._packages: set[str] = set()
        self._files: list[str] = []

    def result(self) -> Imports:
        """Read the waiting files, and return the result."""
        while self.waiting and len(self._files) < _MAX_FILES:
            path = self.waiting.pop(0)
            content = self._root.read_bytes(path, _MAX_FILE_BYTES)
            if path not in self._files and content is not None:
                self._files.append(path)
                self.read(content, path)
        return Imports(frozenset(self._packages), tuple(self._files))

    def read(self, source: bytes, path: str | None) -> None:
        """Add all modules that a source names; a source with syntax errors names none."""
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        folder = path.rpartition("/")[0] if path else ""
        for level, name in _names(tree):
            if level == 0:
                self.add_module(name)
            elif path:
                base = "/".join(folder.split("/")[: len(folder.split("/")) - level + 1])
                self._local(base, name.split("."))

    def add_module(self, name: str) -> None:
        """Add a module by its full name: from beside the script, else from a package."""
        parts = name.split(".")
        if not parts[0]:
            return
        if any(self._local(folder, parts) for folder in self.beside):
            return
        if parts[0] not in sys.stdlib_module_names and self._installed(parts[0]):
            self._packages.add(parts[0])

    def _local(self, folder: str, parts: list[str]) -> bool:
        """Add the files of a module in ``folder``, and return whether there are any."""
        found = False
        for depth in range(1, len(parts) + 1):
            stem = "/".join((folder, *parts[:depth]))
            for file in (f"{stem}.py", f"{stem}/__init__.py"):
                if parts[depth - 1] and self._root.exists(file):
                    found = True
                    self.waiting.append(file)
        return found

    def _installed(self, name: str) -> bool:
        if not self._folders:
            return name.isidentifier()
        return any(_is_in(self._root, folder, name) for folder in self._folders)


def _is_in(root: Root, folder: str, name: str) -> bool:
    """Return whether a directory of packages contains one of this name."""
    return root.exists(f"{folder}/{name}") or any(
        entry == f"{name}.py" or (entry.startswith(f"{name}.") and entry.endswith(".so"))
        for entry in root.listdir(folder)
    )


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield level and name of every module that a source may import, except for type checking."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module:
                yield node.level, module
            for alias in node.names:
                # `from a import b` may name a module b.
                yield node.level, f"{module}.{alias.name}" if module else alias.name
        elif isinstance(node, ast.Call):
            yield from _by_call(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _by_call(node: ast.Call) -> Iterator[tuple[int, str]]:
    called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
    first = node.args[0] if node.args else None
    if called in ("import_module", "__import__") and isinstance(first, ast.Constant):
        name = first.value
        if isinstance(name, str) and name and not name.startswith("."):
            yield 0, name
