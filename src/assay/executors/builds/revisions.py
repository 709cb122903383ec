"""Git revisions: build values that name a branch, a tag or a commit of a repository.

A branch name may refer to another commit later. Therefore a build is identified by the commit,
which git resolves.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from assay.errors import NotPossibleError

_GIT_TIMEOUT_S = 20.0
_DIGITS = re.compile(r"[0-9a-f]+", re.IGNORECASE)
MIN_DIGITS = 7
"""Fewest digits of an abbreviated commit: a shorter one may be a number, such as ``1024``."""


class RevisionMovedError(NotPossibleError):
    """Change of the commit of a branch or tag during a build.

    Args:
        value: name of the branch or tag.
        before, after: commits before and after the change.
    """

    def __init__(self, value: str, before: str, after: str | None) -> None:
        super().__init__(
            f"{value} moved while it was built: from commit {before} to {after or 'none'}.",
            "This build is discarded; all samples so far are kept. Start again, or name the "
            "commit.",
        )


class Revisions:
    """Resolves names to commits in the repository around a folder.

    Args:
        folder: working folder of builds.
        env: environment of builds, in which git is found.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = {**env, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        self._inside = "GIT_DIR" in env or any(
            (place / ".git").exists() for place in (folder, *folder.parents)
        )

    def commits(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the commit of each value that names one.

        Args:
            values: values of a build, by name.
        """
        found = {name: self.commit(value) for name, value in values.items()}
        return {name: commit for name, commit in found.items() if commit is not None}

    def commit(self, value: str) -> str | None:
        """Return the commit of a branch, a tag, a hash, or for instance ``main~2``."""
        if not self._inside or not value or value.startswith("-") or value.split() != [value]:
            return None
        if _DIGITS.fullmatch(value) and len(value) < MIN_DIGITS and not self._is_name(value):
            return None
        output = self._git("rev-parse", "--verify", "--quiet", f"{value}^{{commit}}")
        return output.strip() or None

    def _is_name(self, value: str) -> bool:
        names = (f"refs/heads/{value}", f"refs/tags/{value}", f"refs/remotes/{value}")
        return any(self._git("rev-parse", "--verify", "--quiet", name) for name in names)

    def uncommitted(self) -> tuple[str, ...]:
        """Return the tracked files that differ from the commit that is checked out."""
        output = self._git("status", "--porcelain", "--untracked-files=no", "-z", "--no-renames")
        return tuple(entry[3:] for entry in output.split("\0") if entry)

    def _git(self, *words: str) -> str:
        """Return the output of a git command; empty if it fails or git is not installed."""
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_GIT_TIMEOUT_S,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return "" if done.returncode else os.fsdecode(done.stdout)
