"""Every verb in a process of its own: documents, exit statuses, bad input."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command_line import CommandLine, leaves, nothing_left
from mounting import mounted

from assay.store.revisions import VERSION_TABLE

pytestmark = pytest.mark.system

GAIN = ("arg.t=0.02,0.004", "nice=0,5", "--runs", "80")
CLAIM = {"a", "b", "ratio", "ci", "verdict", "blocks"}
SUMMARY = {"n", "min", "q1", "median", "q3", "max", "mean", "sd", "sem", "ci"}


@pytest.fixture
def cli(assay_exec: Path, tmp_path: Path) -> CommandLine:
    return CommandLine(assay_exec, tmp_path)


@pytest.fixture(scope="module")
def tuned(assay_exec: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Return a store with one finished study, which is only read."""
    cli = CommandLine(assay_exec, tmp_path_factory.mktemp("tuned"))
    answer = cli("tune", *GAIN, "--json", "--null", "--", "sleep", "{t}")
    assert answer.status == 0, answer.err
    (cli.folder / "tune.json").write_text(answer.out)
    return cli


def refused(cli: CommandLine, status: int, *words: str | Path, says: str, **env: str) -> None:
    """Check for one message with the next step, without traceback or standard output."""
    answer = cli(*words, **env)
    assert answer.status == status, answer
    assert "Traceback" not in answer.err
    assert re.search(says, answer.err), answer.err
    messages = [line for line in answer.err.splitlines() if re.match(r"assay( \w+)?: ", line)]
    progress = tuple(
        f"assay: {stage}"
        for stage in ("inspecting", "checking", "surveying", "timing", "searching", "confirming")
    )
    assert len([m for m in messages if not m.startswith(progress)]) == 1, answer.err
    assert answer.out == ""


class TestDocuments:
    @pytest.mark.rotating
    def test_tune_answers_with_recommendation(self, tuned: CommandLine) -> None:
        found = json.loads((tuned.folder / "tune.json").read_text())
        assert found["schema"] == 2
        keys = {"study", "default", "recommendation", "launches", "elapsed_s", "configurations"}
        assert keys | {"noise_floor"} <= found.keys()
        assert found["default"]["summary"]["wall_s"].keys() >= SUMMARY
        assert found["recommendation"]["settings"]["arg.t"] == 0.004
        claim = found["recommendation"]["claim"]
        assert claim.keys() >= CLAIM
        assert claim["verdict"] == "faster"
        assert claim["ci"][0] < claim["ratio"] < claim["ci"][1] < 1
        assert len(found["noise_floor"]["ratio_ci"]) == 2
        assert found["launches"] <= 80
        assert "sleep 0.004" in found["recommendation"]["script"]

    @pytest.mark.rotating
    def test_study_exports_are_complete(self, cli: CommandLine) -> None:
        files = [word for end in ("md", "csv", "json") for word in ("--export", f"out.{end}")]
        words = ("--runs", "20", "--json", "--name", "a|b", "--name", "b", *files)
        printed = cli("compare", *words, "sleep 0.01", "sleep 0.02").document
        assert json.loads((cli.folder / "out.json").read_text()) == printed
        table = (cli.folder / "out.md").read_text()
        assert "| a\\|b |" in table and "slower" in table
        rows = list(csv.DictReader((cli.folder / "out.csv").open(newline="")))
        assert [row["arm"] for row in rows] == ["a|b", "b"]
        assert rows[1]["verdict"] == "slower"
        again = cli("study", "resume", "last", "--export", "again.csv")
        assert again.status == 0 and "b takes" in again.out
        assert (cli.folder / "again.csv").read_bytes() == (cli.folder / "out.csv").read_bytes()
        assert cli("measure", "--runs", "4", "--export", "m.md", "--", "true").status == 0
        assert "wall" in (cli.folder / "m.md").read_text()
        refused(cli, 2, "measure", "--export", "m.txt", "--", "true", says="m.txt.*suffix")
        refused(cli, 2, "measure", "--export", "no/m.md", "--", "true", says="no folder no")
        assert len(cli.studies()) == 2  # unwritable files are reported before any launch

    @pytest.mark.rotating
    def test_script_runs_without_assay(self, tuned: CommandLine) -> None:
        document = tuned("study", "resume", "last", "--json").document
        script = tuned.folder / "script.sh"
        script.write_text(document["recommendation"]["script"])
        assert subprocess.run(["/bin/sh", script]).returncode == 0

    @pytest.mark.rotating
    def test_measure_reports_interval(self, cli: CommandLine) -> None:
        found = cli(
            "measure", "--json", "--runs", "9", "--metric", r"user_s", "--objective", "wall_s",
            "--metric", r"n=(\d+)", "--with", "nice=5", "--", "sh", "-c", "echo 42",
        ).document  # fmt: skip
        assert found.keys() >= {"study", "summary", "samples"}
        assert found["summary"].keys() >= {"wall_s", "n"}
        assert next(iter(found["summary"])) == "wall_s"
        assert found["summary"]["n"]["median"] == 42
        assert found["summary"]["wall_s"].keys() >= SUMMARY
        assert len(found["samples"]) == 9
        for sample in found["samples"]:
            assert sample["outcome"] == "ok"
            assert sample["exit_status"] == 0
            assert sample["metrics"]["n"] == 42
            assert sample["wall_s"] > 0
            assert sample["settings"]["nice"].keys() >= {"value", "status"}
            assert isinstance(sample["evidence"], list)

    @pytest.mark.rotating
    def test_compare_reports_verdict(self, cli: CommandLine) -> None:
        answer = cli("compare", "sleep 0.01", "sleep 0.002", "true", "--runs", "60", "--json")
        found = answer.document
        assert found.keys() >= {"study", "metric", "arms", "claims"}
        assert [arm["name"] for arm in found["arms"]] == ["sleep 0.01", "sleep 0.002", "true"]
        assert all(claim.keys() >= CLAIM for claim in found["claims"])
        assert [claim["verdict"] for claim in found["claims"]] == ["faster", "faster"]
        assert {claim["a"] for claim in found["claims"]} == {"sleep 0.01"}

    @pytest.mark.rotating
    def test_compare_accepts_configurations_and_names(self, cli: CommandLine) -> None:
        # The difference is large enough that a wait for a CPU does not reverse it.
        words = ("--arm", "env.T=0.15", "--arm", "env.T=0.002 nice=5", "--name", "long")
        answer = cli(
            "compare", *words, "--runs", "40", "--json", "--null", "--",
            "sh", "-c", 'sleep "$T"',
        )  # fmt: skip
        found = answer.document
        assert [arm["name"] for arm in found["arms"]] == [
            "long",
            "long (again)",
            "env.T=0.002 nice=5",
        ]
        assert [claim["verdict"] for claim in found["claims"]] == ["faster"]
        assert "ratio_ci" in found["noise_floor"]

    @pytest.mark.rotating
    def test_fail_if_sets_exit_status(self, cli: CommandLine) -> None:
        words = ("compare", "true", "sleep 0.02", "--runs", "30", "--json")
        assert cli(*words, "--fail-if", "faster").status == 0
        assert cli(*words, "--fail-if", "slower").status == 1

    @pytest.mark.rotating
    def test_studies_are_listed_and_shown(self, tuned: CommandLine) -> None:
        (head,) = tuned.studies()
        assert head.keys() >= {"id", "command", "status", "launches"}
        assert head["status"] == "done"
        assert head["command"] == "sleep '{t}'"
        for name in ("last", head["id"], head["id"][:4]):
            shown = tuned("study", "show", name, "--json").document
            assert shown["study"] == head["id"]
            assert len(shown["samples"]) == head["launches"]
        assert "arg.t=0.004" in tuned("study", "show", "last").out

    @pytest.mark.rotating
    def test_settings_and_doctor_print_documents(self, cli: CommandLine) -> None:
        listed = cli("settings", "list", "--json").document["settings"]
        assert {"threads", "malloc", "thp", "nice"} <= {setting["name"] for setting in listed}
        shown = cli("settings", "show", "nice", "--json").document
        assert {"value", "status"} <= shown["values"][0].keys()
        assert cli("settings", "list").out
        assert cli("settings", "show", "malloc").out
        found = cli("doctor", "--json").document
        assert {"machine", "launcher", "settings", "store"} <= found.keys()
        assert cli("doctor").out
        refused(cli, 2, "settings", "show", "thb", says="thp")

    def test_dry_run_launches_nothing(self, cli: CommandLine) -> None:
        touched = cli.folder / "touched"
        answer = cli("tune", "nice=0,5", "--dry-run", "--json", "--", "touch", touched)
        assert [p["name"] for p in answer.document["space"]] == ["nice"]
        assert not touched.exists()
        assert not cli.store.exists()

    @pytest.mark.rotating
    def test_empty_constrained_space_is_reported(self, cli: CommandLine) -> None:
        words = ("tune", "nice=0,5", "--constraint", "nice < 0")
        result = "nothing but the default is left to try: the constraints exclude the rest"
        assert result in cli(*words, "--dry-run", "--", "true").out
        assert cli(*words, "--dry-run", "--json", "--", "true").document["notes"] == [result]
        assert result in cli(*words, "--runs", "60", "--", "true").err
        assert "left to try" not in cli("tune", "nice=0,5", "--dry-run", "--", "true").out

    @pytest.mark.rotating
    def test_quiet_study_prints_answer_only(self, cli: CommandLine) -> None:
        """``-q`` prints only the result."""
        answer = cli("measure", "-q", "--runs", "4", "--", "true")
        assert answer.err == ""
        assert answer.out.startswith("wall_s: ")

    @pytest.mark.rotating
    def test_additional_budget_resumes_study(self, cli: CommandLine) -> None:
        words = ("compare", "sleep 0.01", "sleep 0.0101", "--runs", "16", "--margin", "0.01%")
        assert cli(*words).status == 0
        before = len(cli.samples())
        assert before <= 16
        assert len(cli.samples()) == before
        cli("study", "resume", "last")
        assert len(cli.samples()) == before
        answer = cli("study", "resume", "last", "--runs", "8", "--json")
        assert before < len(cli.samples()) <= before + 8
        assert answer.document["claims"][0]["blocks"] > 6

    @pytest.mark.rotating
    def test_deleted_study_is_gone(self, cli: CommandLine) -> None:
        assert cli("measure", "--runs", "3", "--", "true").status == 0
        assert cli("study", "delete", "last", "--json").status == 0
        assert cli.studies() == []
        assert cli.samples() == []
        refused(cli, 2, "study", "show", "last", says="study")


class TestRun:
    @pytest.mark.parametrize("status", [0, 1, 3, 77, 125, 127, 255])
    def test_exit_status_of_program_is_passed_on(self, cli: CommandLine, status: int) -> None:
        answer = cli("run", "--", "sh", "-c", f"echo out; echo err >&2; exit {status}")
        assert (answer.status, answer.out, answer.err) == (status, "out\n", "err\n")

    @pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGUSR1", "SIGINT"])
    def test_signal_of_program_is_passed_on(self, cli: CommandLine, name: str) -> None:
        number = signal.Signals[name]
        answer = cli("run", "--", "sh", "-c", f"kill -{int(number)} $$")
        assert answer.status == -number
        assert answer.err == ""
        assert not list(cli.folder.glob("core*"))

    @pytest.mark.rotating
    def test_own_errors_have_own_exit_status(self, cli: CommandLine) -> None:
        plain = cli.folder / "plain"
        plain.write_text("text")
        refused(cli, 127, "run", "--", "no-such-command", says="no-such-command")
        refused(cli, 126, "run", "--", plain, says="plain")
        refused(cli, 126, "run", "--", cli.folder, says=cli.folder.name)
        refused(cli, 125, "run", "--", says="command is missing")
        refused(cli, 125, "run", "true", says="true|command")
        refused(cli, 125, "run", "--with", "nicee=1", "--", "true", says="nice")
        refused(cli, 125, "run", "--from", "last", "--", "true", says="store")
        refused(cli, 125, "run", "--with", "arg.n=1", "--", "true", says="{n}")

    def test_program_keeps_input_and_environment(self, cli: CommandLine) -> None:
        script = 'cat; echo "$A"; nice'
        done = subprocess.run(
            cli.argv("run", "--with", "env.A=b c", "nice=3", "--", "sh", "-c", script),
            input=b"in\n",
            capture_output=True,
            env=cli.env,
            cwd=cli.folder,
        )
        base = int(subprocess.check_output(["nice"]))
        assert done.stdout.decode() == f"in\nb c\n{max(base, 3)}\n"

    def test_settings_before_the_dashes_are_in_force(self, cli: CommandLine) -> None:
        base = int(subprocess.check_output(["nice"]))
        script = ("--", "sh", "-c", 'echo "$A $(nice)"')
        for words in (("env.A=b", "nice=3"), ("env.A=b", "--with", "nice=3")):
            assert cli("run", *words, *script).out == f"b {max(base, 3)}\n"
        answer = cli("measure", "nice=3", "--runs", "3", "--metric", r"n=(\d+)", "--json",
                     "--", "sh", "-c", "echo n=$(nice)")  # fmt: skip
        assert json.loads(answer.out)["summary"]["n"]["mean"] == max(base, 3)
        refused(cli, 125, "run", "nicee=1", "--", "true", says="nice")

    @pytest.mark.rotating
    def test_run_uses_recommendation_of_study(self, tuned: CommandLine) -> None:
        answer = tuned("run", "--from", "last", "--", "echo", "{t}")
        assert answer.out == "0.004\n"
        assert "measured sleep, and this is echo: the best settings may differ" in answer.err
        assert (
            "best settings may differ" not in tuned("run", "--from", "last", "--", "sleep", "0").err
        )
        over = tuned("run", "--from", "last", "--with", "arg.t=9", "--", "echo", "{t}")
        assert over.out == "9\n"
        own = tuned("run", "--from", "last", "--explain")
        assert "sleep 0.004" in own.out
        assert tuned("run", "--from", "last").status == 0

    def test_record_is_written(self, cli: CommandLine) -> None:
        record = cli.folder / "record.json"
        words = ("run", "--record", record, "--with", "nice=3", "--")
        assert cli(*words, "sh", "-c", "sleep 0.05; exit 4").status == 4
        found = json.loads(record.read_text())
        assert found["schema"] == 2
        assert found["outcome"] == "failed"
        assert found["exit_status"] == 4
        assert found["wall_s"] > 0.04
        assert found["settings"]["nice"] == {
            "value": 3,
            "level": found["settings"]["nice"]["level"],
            "status": "granted",
            "observed": found["settings"]["nice"]["observed"],
        }
        elsewhere = cli("run", "--record", "/nowhere/at/all.json", "--", "echo", "launched")
        assert (elsewhere.status, elsewhere.out) == (125, "")
        assert "there is no folder /nowhere/at" in elsewhere.err

    def test_record_is_last_line_of_standard_output(self, cli: CommandLine) -> None:
        for program in ("echo said", "printf said", "true"):
            found = cli("run", "--record", "-", "--", "sh", "-c", f"{program}; exit 3")
            assert found.status == 3
            *before, last = found.out.splitlines()
            assert json.loads(last)["exit_status"] == 3
            assert "".join(before) == ("" if program == "true" else "said")
        assert not (cli.folder / "-").exists()

    def test_deleted_working_folder_is_left_to_program(self, cli: CommandLine) -> None:
        folder = cli.folder / "gone"
        folder.mkdir()
        line = ["sh", "-c", 'rmdir ../gone && exec "$@"', "sh", *cli.argv("run", "--", "echo", "x")]
        done = subprocess.run(line, cwd=folder, env=cli.env, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, b"x\n"), done.stderr

    def test_explain_launches_nothing(self, cli: CommandLine) -> None:
        touched = cli.folder / "touched"
        answer = cli("run", "--explain", "--with", "nice=3", "--", "touch", touched)
        assert answer.status == 0
        assert "nice" in answer.out
        assert "/dev/null" not in answer.out  # a plain run reads its standard input
        assert not touched.exists()
        threads = ("run", "--explain", "--with", "threads.omp=2", "--", "true")
        result = cli(*threads, OMP_NUM_THREADS="7").out
        assert "OMP_NUM_THREADS=7 is already exported" in result

    @pytest.mark.rotating
    def test_program_output_is_unchanged(self, cli: CommandLine) -> None:
        level = cli("settings", "show", "cpu.isa", "--json").document
        if not level["values"]:
            pytest.skip("no instruction set of this processor is known")
        words = ("--with", f"cpu.isa={level['values'][0]['value']}")
        answer = cli("run", *words, "--", "sh", "-c", 'echo "${OPENBLAS_VERBOSE-unset}"')
        assert (answer.status, answer.out) == (0, "unset\n"), answer.err


class TestBadInput:
    @pytest.mark.rotating
    def test_invalid_command_line_writes_nothing(self, cli: CommandLine) -> None:
        lines: list[tuple[tuple[str | Path, ...], str]] = [
            (("tune", "thraeds=1,2", "--", "true"), "Did you mean threads"),
            (("tune", "malloc=jemaloc", "--", "true"), "jemalloc"),
            (("tune", "nice=0,5", "nice=10", "--", "true"), "given twice"),
            (("tune", "arg.n=1,2", "--", "true"), r"\{n\}"),
            (("tune", "nice=0,5"), "command is missing"),
            (("tune", "nice=0,5", "--"), "command is missing"),
            (("tune", "nice=0,5", "--", "no-such-command"), "not found"),
            (("tune", "nice=0,5", "--", "sleep 1 | cat"), "--shell"),
            (("tune", "nice=0,5", "--constraint", "nise < 3", "--", "true"), "Did you mean nice"),
            (
                ("tune", "nice=0,5", "--constraint", "nice < 'a'", "--", "true"),
                "cannot be evaluated",
            ),
            (("tune", "nice=0,5", "--check", "(", "--", "true"), "regular expression"),
            (("tune", "nice=0,5", "--space", "none.toml", "--", "true"), "none.toml"),
            (("compare", "true"), "two commands"),
            (("compare", "true", "sleep 1 | cat"), "--shell"),
            (("compare", "true", "true"), "same name"),
            (("compare", "--arm", "nice='5", "--", "true"), "quotes"),
            (("measure", "--null", "--", "true"), "--null"),
            (("measure", "--with", "nice=bold", "--", "true"), "nice"),
            (("study", "show"), "needs a study"),
            (("study", "resume", "last"), "does not exist"),
        ]
        for words, says in lines:
            refused(cli, 2, *words, says=says)
        assert not cli.store.exists()

    def test_usage_errors_have_status_two(self, cli: CommandLine) -> None:
        for words in (("tune", "--bogus", "--", "true"), ("frobnicate",), ()):
            answer = cli(*words)
            assert answer.status == 2
            assert answer.err.startswith("usage: ")
            assert "Traceback" not in answer.err

    def test_invalid_space_file_names_file_and_key(self, cli: CommandLine) -> None:
        (cli.folder / "space.toml").write_text("[settings]\nmalloc = ['jemaloc']\n")
        refused(
            cli,
            2,
            "tune",
            "--space",
            "space.toml",
            "--",
            "true",
            says=r"space\.toml:2:1: settings\.malloc",
        )

    @pytest.mark.rotating
    def test_missing_metric_is_reported(self, cli: CommandLine) -> None:
        for verb in (("tune", "nice=0,5"), ("measure",), ("compare", "--arm", "nice=5")):
            refused(cli, 2, *verb, "--metric", r"fps=(\d+)", "--", "echo", "x", says="fps")
        assert all(study["status"] == "failed" for study in cli.studies())

    @pytest.mark.rotating
    def test_always_failing_program_is_reported(self, cli: CommandLine) -> None:
        words = ("--", "sh", "-c", "echo because >&2; exit 3")
        refused(cli, 1, "tune", "nice=0,5", *words, says="exit status 3")
        assert "because" in cli("tune", "nice=0,5", *words).err
        refused(cli, 1, "measure", *words, says="failed")
        refused(cli, 1, "compare", "false", "true", says="failed")
        refused(cli, 1, "compare", "true", "false", says="failed")

    @pytest.mark.rotating
    def test_sometimes_failing_program_gets_answer(self, cli: CommandLine) -> None:
        """It still has an answer, which counts the failures."""
        counter = cli.folder / "counter"
        script = f"echo x >> {counter}; test $(($(wc -l < {counter}) % 5)) -ne 0 && sleep {{t}}"
        words = ("arg.t=0.02,0.004", "--runs", "80", "--json", "--", "sh", "-c", script)
        found = cli("tune", *words).document
        assert found["recommendation"]["settings"] == {"arg.t": 0.004}
        assert any("launches failed" in note for note in found["notes"])

    @pytest.mark.rotating
    def test_always_hanging_program_is_reported(self, cli: CommandLine) -> None:
        words = ("--timeout", "50ms", "--runs", "30", "--", "sleep", "9")
        refused(cli, 1, "measure", *words, says="timed out")
        refused(cli, 1, "tune", "nice=0,5", *words, says="timed out")

    @pytest.mark.rotating
    @pytest.mark.parametrize(
        ("words", "command"),
        [(("compare", "--arm", "env.T=0.05", "--arm", "env.T=0.02"), ("sh", "-c", "sleep $T"))],
        ids=["compare"],
    )
    def test_insufficient_budget_is_reported(
        self, cli: CommandLine, words: tuple[str, ...], command: tuple[str, ...]
    ) -> None:
        """The budget named in the message suffices, and so does the command named to continue."""
        for option, amount in (("--runs", "5"), ("--budget", "100ms")):
            answer = cli(*words, option, amount, "--", *command)
            assert answer.status == 3, answer.err
            needed = re.search(
                rf"about {option} (\S+); `assay study resume (\S+) {option} (\S+)`", answer.err
            )
            assert needed, answer.err
            whole, study, more = needed.groups()
            for enough in (
                cli(*words, option, whole, "--json", "--", *command),
                cli("study", "resume", study, option, more, "--json"),
            ):
                assert enough.status == 0, enough.err
                assert enough.document["claims"][0]["verdict"] == "faster"

    @pytest.mark.rotating
    def test_tune_answers_for_every_budget(self, cli: CommandLine) -> None:
        """The status is 0 after one launch; unproven answers run on request or after a proof."""
        words = ("arg.t=0.2,0.02", "arg.x=1,2,3")
        command = ("--", "sh", "-c", "sleep {t}; echo {x}")
        one = cli("tune", *words, "--runs", "1", "--json", *command)
        assert one.status == 0, one.err
        assert one.document["recommendation"]["status"] == "default"
        assert "--runs" in one.document["recommendation"]["sentence"]
        few = cli("tune", *words, "--runs", "10", "--json", "--seed", "1", *command)
        assert few.status == 0, few.err
        found = few.document["recommendation"]
        assert found["status"] == "unproven"
        assert found["settings"]["arg.t"] == 0.02
        assert found["expected"]["ci"][1] < 0.5
        refused(cli, 125, "run", "--from", "last", says="--unproven")
        assert cli("run", "--from", "last", "--unproven").status == 0
        assert "Not proven" in cli("run", "--from", "last", "--unproven", "--explain").out
        assert found["sentence"] in cli("study", "show", "last").out.replace("\n", " ")
        proof = found["proof"]["command"].split()
        proven = cli(*proof[1:], "--json")
        assert proven.status == 0, proven.err
        assert proven.document["recommendation"]["status"] == "proven"
        assert cli("run", "--from", "last").status == 0


class TestStore:
    @pytest.mark.rotating
    def test_locked_store_is_reported(self, cli: CommandLine) -> None:
        assert cli("measure", "--runs", "3", "--", "true").status == 0
        with closing(sqlite3.connect(cli.store, isolation_level=None)) as database:
            database.execute("BEGIN EXCLUSIVE")
            refused(cli, 3, "measure", "--runs", "3", "--", "true", says="lock|busy|write")
        assert len(cli.studies()) == 1

    @pytest.mark.rotating
    def test_corrupt_store_is_reported(self, cli: CommandLine) -> None:
        cli.store.write_bytes(b"not a database at all" * 1000)
        before = cli.store.read_bytes()
        refused(cli, 3, "measure", "--runs", "3", "--", "true", says="damaged|not a|database")
        refused(cli, 3, "study", "list", says="damaged|not a|database")
        assert cli.store.read_bytes() == before

    @pytest.mark.rotating
    def test_store_of_newer_version_is_refused(self, cli: CommandLine) -> None:
        assert cli("measure", "--runs", "3", "--", "true").status == 0
        with closing(sqlite3.connect(cli.store)) as database:
            database.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
            database.commit()
        refused(cli, 3, "study", "list", says="newer")
        refused(cli, 3, "tune", "nice=0,5", "--runs", "40", "--", "true", says="newer")

    @pytest.mark.rotating
    def test_store_in_missing_folder_is_refused(self, cli: CommandLine) -> None:
        refused(cli, 2, "study", "list", "--db", "/nowhere/at/all.db", says="mkdir")

    @pytest.mark.rotating
    def test_full_disk_is_reported(self, cli: CommandLine) -> None:
        """Acknowledged samples remain readable, and the study resumes on a disk with free space."""
        with small_disk(cli.folder / "disk") as disk:
            store = disk / "studies.db"
            answer = cli(
                "measure", "--db", store, "--runs", "5000", "--precision", "0.01%", "--", "true"
            )
            assert answer.status == 3, answer.err
            assert "Traceback" not in answer.err
            assert re.search("space|full", answer.err)
            roomy = cli.folder / "roomy.db"
            for file in disk.glob("studies.db*"):
                shutil.copy(file, cli.folder / file.name.replace("studies", "roomy"))
        (head,) = cli("study", "list", "--db", roomy, "--json").document["studies"]
        assert head["launches"] > 3
        assert head["status"] in ("interrupted", "failed")
        shown = cli("study", "show", "last", "--db", roomy, "--json").document
        assert len(shown["samples"]) == head["launches"]


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Mount a file system of 300 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting takes root")
    place.mkdir()
    with mounted(place, "-t", "tmpfs", "-o", "size=300k", "tmpfs"):
        yield place


def test_help_answers_quickly(cli: CommandLine) -> None:
    """Help imports few modules: it takes about four times as long as the start of Python."""
    took_s: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(8):
        for helps in (False, True):
            began = time.monotonic()
            if helps:
                assert cli("--help").out.startswith("usage: assay")
            else:
                subprocess.run([sys.executable, "-c", "pass"], check=True)
            took_s[helps].append(time.monotonic() - began)
    assert min(took_s[True]) < 10.0 * min(took_s[False])


@pytest.mark.rotating
def test_host_state_is_restored(cli: CommandLine) -> None:
    before = leaves()
    script = "setsid sleep 60 & exec sleep 0.002"
    assert cli("tune", "nice=0,5", "--runs", "50", "--", "sh", "-c", script).status == 0
    assert cli("run", "--", "sh", "-c", script).status == 0
    nothing_left(cli, before)


@pytest.mark.rotating
def test_scratch_folders_are_removed(cli: CommandLine) -> None:
    scratch = cli.folder / "tmp"
    scratch.mkdir()
    assert cli("measure", "--runs", "4", "--", "true", TMPDIR=str(scratch)).status == 0
    assert cli("tune", "nice=0,5", "--runs", "4", "--", "true", TMPDIR=str(scratch)).status == 0
    failing = ("compare", "--runs", "4", "false", "true")
    assert cli(*failing, TMPDIR=str(scratch)).status not in (0, 2)
    assert list(scratch.iterdir()) == []
