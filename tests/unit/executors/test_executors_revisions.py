"""Builds from branches, tags and commits of a Git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.executors.builds.builder import Builder
from assay.executors.builds.revisions import RevisionMovedError, Revisions
from assay.records import Build, BuildRecipe, Configuration, Plan, Workload
from assay.records.sample import REVISION

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Repository:
    """A repository of one file, with a branch ``work``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.folder.mkdir()
        person = {
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
        self._env = {**self.env, **person}
        self("init", "-q", "-b", "work")

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=self._env,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        (self.folder / "file").write_text(text)
        self("add", "file")
        self("commit", "-q", "-m", text)
        return self("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


ARCHIVE = ("sh", "-c", 'git archive "$1" | tar -xC "$0"', "{build}", "{rev}")


def building(repository: Repository, argv: tuple[str, ...] = ARCHIVE) -> Builder:
    cwd = str(repository.folder)
    recipe = BuildRecipe(argv=argv, values={"rev": "work"}, cwd=cwd)
    return Builder(Workload(argv=("{build}/file",), build=recipe, cwd=cwd), repository.env)


def plan(rev: str) -> Plan:
    actions = (Build(name="rev", value=rev),)
    return Plan(configuration=Configuration({"build.rev": rev}), actions=actions)


def test_moved_branch_is_built_anew(repository: Repository) -> None:
    first = repository.commit("one")
    with building(repository) as made:
        built = made.built(plan("work"))
        old = Path(built.workload.placeholders["build"])
        notes = [piece.note for piece in built.evidence if piece.kind == REVISION]
    assert notes == [f"build.rev=work is commit {first[:12]}"]
    assert (old / "file").read_text() == "one"
    second = repository.commit("two")
    with building(repository) as made:
        built = made.built(plan("work"))
        assert (Path(built.workload.placeholders["build"]) / "file").read_text() == "two"
        assert second[:12] in str(built.evidence)
        again = made.built(plan(first[:10]))
        assert (Path(again.workload.placeholders["build"]) / "file").read_text() == "one"


def test_branch_that_moves_during_build_is_refused(repository: Repository) -> None:
    repository.commit("one")
    repository.commit("two")
    moving = ("sh", "-c", 'echo x > "$0/file"; git update-ref refs/heads/{rev} {rev}~1', "{build}")
    with (
        building(repository, moving) as made,
        pytest.raises(RevisionMovedError, match="work moved"),
    ):
        made.built(plan("work"))


def test_uncommitted_changes_are_named(repository: Repository) -> None:
    repository.commit("one")
    (repository.folder / "file").write_text("changed")
    (repository.folder / "untracked.txt").write_text("")
    with building(repository) as made:
        built = made.built(plan("work"))
    told = [piece.note for piece in built.evidence if piece.kind == REVISION]
    assert told[1] == "1 file of the working folder with uncommitted changes: file"


def test_values_that_name_commits(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit("one")
    repository("tag", "-a", "v1", "-m", "v1")
    repository("branch", "1024")
    second = repository.commit("two")
    found = Revisions(repository.folder, repository.env)
    named = {"work": second, "v1": first, "HEAD~1": first, first: first, first[:8]: first}
    for value, commit in {**named, "1024": first}.items():
        assert found.commit(value) == commit, value
    for value in ("", "-O3", "gcc", "-march=native -O2", first[:4], "file", "work:file", "a b"):
        assert found.commit(value) is None, value
    outside = Revisions(tmp_path, repository.env)
    assert outside.commit("work") is None
    assert Revisions(repository.folder, {"PATH": "/no/such"}).commit("work") is None
