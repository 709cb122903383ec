"""Building programs, and keeping them."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from assay.errors import InvalidInputError, NotPossibleError
from assay.executors.builds import cache, sources
from assay.executors.builds.builder import Builder, BuildFailedError, failed_sample
from assay.executors.builds.cache import BuildCache, BuildNote, builds_folder
from assay.executors.builds.sources import SourceChangedError
from assay.executors.missing_inputs import MissingInputError
from assay.records import Build, BuildRecipe, Configuration, Launch, Outcome, Plan, Stage, Workload

COPY = ("sh", "-c", 'echo x >> $HOME/log; cp prog.c "$0/prog"; echo {opt} >> "$0/prog"', "{build}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "src"
    found.mkdir()
    (found / "prog.c").write_text("one\n")
    return found


def env_of(folder: Path) -> Mapping[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
        "HOME": str(folder.parent),
    }


def building(
    folder: Path, argv: tuple[str, ...] = COPY, *, inputs: tuple[str, ...] = (), **more: float
) -> Builder:
    recipe = BuildRecipe(argv=argv, values={"opt": "-O1"}, inputs=inputs, cwd=str(folder))
    workload = Workload(argv=("{build}/prog",), build=recipe, cwd=str(folder))
    return Builder(workload, env_of(folder), **more)


def plan(opt: str | None = None) -> Plan:
    if opt is None:
        return Plan(configuration=Configuration())
    configuration = Configuration({"build.opt": opt})
    return Plan(configuration=configuration, actions=(Build(name="opt", value=opt),))


def times_built(folder: Path) -> int:
    log = folder.parent / "log"
    return log.read_text().count("x") if log.exists() else 0


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def kept(folder: Path) -> list[str]:
    return names_in(builds_folder(env_of(folder)))


def test_each_configuration_is_built_once(folder: Path) -> None:
    with building(folder) as found:
        first, again = found.built(plan()), found.built(plan())
        other = found.built(plan("-O3"))
    assert times_built(folder) == 2
    places = [one.workload.placeholders["build"] for one in (first, again, other)]
    assert places[0] == places[1] != places[2]
    assert [Path(place, "prog").read_text().split()[-1] for place in places[1:]] == ["-O1", "-O3"]


def test_first_launch_has_build_evidence(folder: Path) -> None:
    with building(folder) as found:
        (told,) = found.built(plan("-O3")).evidence
        assert found.built(plan("-O3")).evidence == ()
    assert told.kind == "build" and told.unit == "s" and told.value and told.value > 0
    assert told.note and "-O3" in told.note and kept(folder)[0].startswith(told.note[:16])


def test_another_session_finds_what_was_built(folder: Path) -> None:
    for _ in range(2):
        with building(folder) as found:
            assert found.built(plan()).evidence
    assert times_built(folder) == 1


@pytest.mark.parametrize("name", ["prog.c", "util.h", "deep/Makefile"])
def test_a_source_that_changed_or_came_is_built_anew(folder: Path, name: str) -> None:
    with building(folder) as found:
        found.built(plan())
    (folder / "deep").mkdir()
    (folder / name).write_text("two\n")
    with building(folder) as found:
        found.built(plan())
    assert times_built(folder) == 2


def test_output_beside_sources_is_not_a_source(folder: Path) -> None:
    with building(folder) as found:
        found.built(plan())
    for name in ("result.csv", ".hidden.c", "out.dat"):
        (folder / name).write_text("1\n")
    with building(folder) as found:
        found.built(plan())
    assert times_built(folder) == 1


def test_inputs_that_were_named_stand_for_the_sources_around(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "table.csv").write_text("1\n")
    with building(folder, inputs=("data",)) as found:
        found.built(plan())
    (folder / "util.h").write_text("no input\n")
    with building(folder, inputs=("data",)) as found:
        found.built(plan())
    assert times_built(folder) == 1
    (folder / "data" / "table.csv").write_text("2\n")
    with building(folder, inputs=("data",)) as found:
        found.built(plan())
    assert times_built(folder) == 2


def test_an_input_that_is_not_there_is_refused(folder: Path) -> None:
    with (
        building(folder, inputs=("nowhere",)) as found,
        pytest.raises(InvalidInputError, match="nowhere"),
    ):
        found.built(plan())


def test_too_many_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_ENTRIES", 3)
    for number in range(5):
        (folder / f"{number}.c").touch()
    with (
        building(folder) as found,
        pytest.raises(InvalidInputError, match="More than 3 files") as error,
    ):
        found.built(plan())
    assert "--build-input" in str(error.value.remedy)


@pytest.mark.parametrize("how", ["variable", "tool", "host"])
def test_build_depends_on_variables_and_tools(folder: Path, how: str) -> None:
    with building(folder) as found:
        before = found.key(plan())
    workload = found._workload
    env = dict(env_of(folder))
    if how == "variable":
        env["CFLAGS"] = "-g"
    if how == "tool":
        tool = folder / "bin" / "sh"
        tool.parent.mkdir()
        tool.symlink_to("/bin/sh")
        env["PATH"] = f"{tool.parent}:/usr/bin:/bin"
        assert Builder(workload, env).key(plan()) != before
        return
    with Builder(workload, env, "another" if how == "host" else "") as found:
        assert found.key(plan()) != before


def test_a_source_that_changes_meanwhile_ends_the_session(folder: Path) -> None:
    with building(folder) as found:
        found.built(plan())
        (folder / "prog.c").write_text("two\n")
        found.built(plan())  # what is built already stays what it is
        with pytest.raises(SourceChangedError, match=r"prog\.c"):
            found.built(plan("-O3"))
    assert times_built(folder) == 1


def test_a_build_that_changes_its_sources_is_not_kept(folder: Path) -> None:
    argv = ("sh", "-c", 'echo more >> prog.c; cp prog.c "$0/prog"', "{build}")
    with (
        building(folder, argv) as found,
        pytest.raises(SourceChangedError, match="during the build"),
    ):
        found.built(plan())
    assert kept(folder) == []
    with building(folder, argv, inputs=("other.h",)) as found:
        (folder / "other.h").touch()
        assert found.built(plan()).evidence


def test_a_touched_source_is_the_same(folder: Path) -> None:
    with building(folder) as found:
        found.built(plan())
        (folder / "prog.c").touch()
        found.built(plan("-O3"))
    assert times_built(folder) == 2


@pytest.mark.parametrize(
    "script, told",
    [
        ("echo 'p.c:3: error: no'; echo stopped; exit 3", "status 3: p.c:3: error: no"),
        ("kill -SEGV $$", "was ended by SIGSEGV"),
        ("true", r"created no file in \{build\}"),
        ("sleep 60 & sleep 60", "took longer than 200 ms"),
    ],
)
def test_a_build_that_fails_says_why_and_is_not_tried_again(
    folder: Path, script: str, told: str
) -> None:
    argv = ("sh", "-c", f"echo x >> $HOME/log; {script}", "{build}")
    with building(folder, argv, min_timeout_s=0.2) as found:
        for _ in range(2):
            with pytest.raises(BuildFailedError) as error:
                found.built(plan())
    launch = Launch(configuration=Configuration(), arm="a", stage=Stage.SEARCH, block=0, position=0)
    sample = failed_sample(launch, error.value)
    assert sample.build_failed
    assert sample.outcome is Outcome.FAILED and sample.message is not None
    assert re.search(told, sample.message)
    assert times_built(folder) == 1
    assert kept(folder) == []


def test_a_command_that_cannot_be_started_is_a_build_that_failed(folder: Path) -> None:
    with (
        building(folder, ("/nowhere/cc",)) as found,
        pytest.raises(BuildFailedError, match="/nowhere"),
    ):
        found.built(plan())


def test_a_build_reads_nothing_and_knows_its_folder(folder: Path) -> None:
    argv = ("sh", "-c", 'cat; test "$ASSAY_BUILD_DIR" = "$0" && touch "$0/prog"', "{build}")
    with building(folder, argv) as found:
        assert found.built(plan()).workload.placeholders["build"]


def test_an_interrupted_build_leaves_nothing(folder: Path) -> None:
    argv = ("sh", "-c", 'echo half > "$0/prog"; echo $$ > pid; sleep 60 & sleep 60', "{build}")

    def interrupt() -> None:
        while not (folder / "pid").exists() or not (folder / "pid").read_text().strip():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with building(folder, argv) as found:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            found.built(plan())
    thread.join()
    assert kept(folder) == []
    pid = int((folder / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_half_a_build_that_was_left_is_built_anew(folder: Path) -> None:
    with building(folder) as found:
        place = Path(found.built(plan()).workload.placeholders["build"])
    (place.parent / "build.json").unlink()
    (place / "half").touch()
    with building(folder) as found:
        found.built(plan())
    assert times_built(folder) == 2
    assert not (place / "half").exists()


def test_a_cache_that_is_emptied_meanwhile_is_filled_again(folder: Path) -> None:
    with building(folder) as found:
        place = Path(found.built(plan()).workload.placeholders["build"])
        cache._remove(place.parent)
        assert Path(found.built(plan()).workload.placeholders["build"], "prog").is_file()
    assert times_built(folder) == 2


def test_two_that_want_the_same_build_it_once(folder: Path) -> None:
    argv = ("sh", "-c", 'echo x >> $HOME/log; sleep 0.2; cp prog.c "$0/prog"', "{build}")
    failures: list[BaseException] = []

    def build() -> None:
        try:
            with building(folder, argv) as found:
                found.built(plan())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert times_built(folder) == 1


def test_a_folder_that_another_process_holds_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    holder, waiter = BuildCache(tmp_path), BuildCache(tmp_path)
    with (
        holder.lock("k", 0.0),
        pytest.raises(NotPossibleError, match="Another process has used"),
        waiter.lock("k", 0.05),
    ):
        pass
    with waiter.lock("k", 0.05) as place:
        assert place.folder == tmp_path / "k"
    holder.close()
    waiter.close()


HOUR_S = cache.MIN_UNUSED_S + 60.0


def keep(root: Path, key: str, size_bytes: int, used_ago_s: float) -> None:
    builds = BuildCache(root)
    with builds.lock(key, 0.0) as place:
        place.clear()
        (place.files / "prog").touch()
        place.complete(
            BuildNote(key=key, argv=("cc",), elapsed_s=1.0, size_bytes=size_bytes, built_at=0)
        )
    builds.close()
    used = time.time() - used_ago_s
    os.utime(root / key / "build.json", (used, used))


def test_unused_builds_are_removed(tmp_path: Path) -> None:
    keep(tmp_path, "old", 1, cache.MAX_UNUSED_S + 60)
    keep(tmp_path, "new", 1, 60)
    (tmp_path / "half" / "files").mkdir(parents=True)
    BuildCache(tmp_path).close()
    assert names_in(tmp_path) == ["new"]


def test_beyond_its_size_the_longest_unused_goes(tmp_path: Path) -> None:
    size = cache.MAX_BYTES // 2
    for key, used_ago_s in (("first", 3 * HOUR_S), ("third", HOUR_S), ("second", 2 * HOUR_S)):
        keep(tmp_path, key, size, used_ago_s)
    BuildCache(tmp_path).close()
    assert names_in(tmp_path) == ["second", "third"]


def test_recently_used_builds_are_kept_at_any_size(tmp_path: Path) -> None:
    keep(tmp_path, "first", 2 * cache.MAX_BYTES, 60)
    keep(tmp_path, "second", 2 * cache.MAX_BYTES, 2 * HOUR_S)
    BuildCache(tmp_path).close()
    assert names_in(tmp_path) == ["first"]


def test_nothing_goes_while_another_session_runs(tmp_path: Path) -> None:
    keep(tmp_path, "old", 1, cache.MAX_UNUSED_S + 60)
    first = BuildCache(tmp_path)
    assert names_in(tmp_path) == []
    keep(tmp_path, "old", 1, cache.MAX_UNUSED_S + 60)
    BuildCache(tmp_path).close()
    assert names_in(tmp_path) == ["old"]
    first.close()


def test_a_cache_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotPossibleError, match="cannot be used") as error:
        BuildCache(tmp_path / "file" / "builds")
    assert "XDG_CACHE_HOME" in str(error.value.remedy)


def test_the_cache_lies_where_the_user_has_it(tmp_path: Path) -> None:
    assert builds_folder({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/assay/builds")
    assert builds_folder({"XDG_CACHE_HOME": "c", "HOME": "/h"}) == Path("/h/.cache/assay/builds")
    with pytest.raises(NotPossibleError):
        builds_folder({})


def test_a_working_folder_that_is_gone_is_told(folder: Path) -> None:
    found = building(folder)
    (folder / "prog.c").unlink()
    folder.rmdir()
    with pytest.raises(MissingInputError):
        found.built(plan())


def test_without_a_build_command_nothing_happens(folder: Path) -> None:
    workload = Workload(argv=("true",))
    with Builder(workload, env_of(folder)) as found:
        assert found.built(plan()).workload == workload
        assert found.key(plan()) is None
    assert not builds_folder(env_of(folder)).exists()


def test_older_workloads_are_read_without_a_build() -> None:
    assert msgspec.json.decode(b'{"argv":["true"]}', type=Workload).build is None


# --- how long -------------------------------------------------------------------------------------

SLEEPS = ("sh", "-c", 'sleep {opt}; touch "$0/prog"', "{build}")


def test_a_build_that_hangs_is_seen_by_those_before_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.executors.builds.builder.MIN_LATER_TIMEOUT_S", 0.3)
    # On a busy machine ten times the earlier build may exceed that.
    monkeypatch.setattr("assay.executors.builds.builder.MAX_TIMEOUT_FACTOR", 0.0)
    with building(folder, SLEEPS, inputs=(str(folder),)) as found:
        found.built(plan("0"))
        with pytest.raises(BuildFailedError, match="took longer than 300 ms"):
            found.built(plan("60"))


def test_earlier_build_has_evidence_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with building(folder, SLEEPS) as found:
        found.built(plan("0"))
    monkeypatch.setattr("assay.executors.builds.builder.MIN_LATER_TIMEOUT_S", 0.3)
    with building(folder, SLEEPS) as found:
        found.built(plan("0"))
        with pytest.raises(BuildFailedError, match="extend the limit with --build-timeout"):
            found.built(plan("60"))


def test_a_build_may_take_what_the_recipe_says(folder: Path) -> None:
    recipe = BuildRecipe(argv=SLEEPS, values={"opt": "60"}, cwd=str(folder), timeout_s=0.2)
    workload = Workload(argv=("{build}/prog",), build=recipe, cwd=str(folder))
    with (
        Builder(workload, env_of(folder)) as found,
        pytest.raises(BuildFailedError, match="took longer than 200 ms"),
    ):
        found.built(plan())
