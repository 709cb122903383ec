"""Bundles of real launches: export, verification on another machine, and invalid bundles."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from command_line import CommandLine

from assay.cli.main import main
from assay.records import Evidence, Output
from assay.store import open_store
from assay.testing.store_contracts import make_plan, make_sample, make_stratum, tune_spec
from cases import cases

pytestmark = pytest.mark.system

SAMPLES = 2000
"""Number of launches of a study whose export takes a moment."""
USER, SECRET = "gwendolyn.p", "s3cret-of-gwendolyn"
PROGRAM = """
import os, sys
n = int(sys.argv[1])
print("home", os.environ["HOME"], "user", os.environ["USER"], "rate=%d" % (n + 1))
print("from", os.uname().nodename, "with", os.environ.get("DEPLOY_TOKEN"), file=sys.stderr)
sum(i * i for i in range(n))
"""


@pytest.fixture(scope="module")
def lab(assay_exec: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Return a store with a finished study of a program with much output; it is only read."""
    folder = tmp_path_factory.mktemp("lab")
    cli = CommandLine(assay_exec, folder)
    (home(cli) / "bin").mkdir(parents=True)
    (home(cli) / "bin" / "work.py").write_text(PROGRAM)
    answer = as_gwendolyn(
        cli,
        *(
            "tune",
            "arg.n=200000,1000",
            "--runs",
            "40",
            "--metric",
            "rate=rate=([0-9]+)",
            "--goal",
            "lower",
        ),
        *("--", "python3", str(home(cli) / "bin" / "work.py"), "{n}"),
    )
    assert answer.status == 0, answer.err
    return cli


def home(cli: CommandLine) -> Path:
    return cli.folder / USER


def as_gwendolyn(cli: CommandLine, *words: str | Path):
    env = {"HOME": str(home(cli)), "USER": USER, "LOGNAME": USER, "DEPLOY_TOKEN": SECRET}
    return cli(*words, **env)


def exported(cli: CommandLine, name: str, *options: str) -> Path:
    path = cli.folder / name
    answer = as_gwendolyn(cli, "study", "export", "last", "--bundle", path, *options)
    assert answer.status == 0, answer.err
    return path


def content_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.rotating
def test_bundle_is_verified_on_other_machine(lab: CommandLine, tmp_path: Path) -> None:
    """Verification needs no store and works in another folder, under another home."""
    path = exported(lab, "study.zip")
    stranger = CommandLine(lab.launcher, tmp_path)
    answer = stranger("study", "verify", path)
    assert answer.status == 0, answer
    assert "verified" in answer.out.splitlines()[0]
    assert "follows from its" in answer.out
    found = stranger("study", "verify", path, "--json").document
    assert found["holds"] is True
    samples = len(lab.samples())
    assert [(v["samples"], v["holds"]) for v in found["verdicts"]] == [(samples, True)]
    assert not stranger.store.exists()


@pytest.mark.rotating
def test_bundle_contains_measurements_without_user_names(lab: CommandLine) -> None:
    files = content_of(exported(lab, "study.zip"))
    whole = b"".join(files.values()).lower()
    host = os.uname().nodename
    for name in (USER, SECRET, str(home(lab)), *([host] if len(host) > 3 else [])):
        assert name.lower().encode() not in whole, name
    first = json.loads(files["strata/0/outputs.jsonl"].splitlines()[0])["entry"]
    stdout = next(s for s in first["streams"] if s["stream"] == "stdout")
    assert stdout["head"] == "home ~ user USERNAME rate=200001\n"
    stratum = json.loads(files["strata/0/stratum.json"])
    assert stratum["launch_environment"]["variable DEPLOY_TOKEN"] == ""
    spec = json.loads(files["study.json"])["spec"]
    assert spec["workload"]["argv"] == ["python3", "~/bin/work.py", "{n}"]
    plans = [json.loads(line)["entry"] for line in files["strata/0/plans.jsonl"].splitlines()]
    assert [plan["configuration"] for plan in plans] == [{}, {"arg.n": 1000}]
    samples = [json.loads(line)["entry"] for line in files["strata/0/samples.jsonl"].splitlines()]
    assert [s["wall_s"] for s in samples] == [s["wall_s"] for s in lab.documents()]


@pytest.mark.rotating
def test_outputs_can_be_omitted(lab: CommandLine) -> None:
    files = content_of(exported(lab, "bare.zip", "--no-outputs"))
    assert "strata/0/outputs.jsonl" not in files
    assert b"home ~ user" not in b"".join(files.values())
    assert lab("study", "verify", lab.folder / "bare.zip").status == 0


@pytest.mark.rotating
def test_export_is_reproducible(lab: CommandLine) -> None:
    assert exported(lab, "one.zip").read_bytes() == exported(lab, "two.zip").read_bytes()


@pytest.mark.rotating
def test_changed_bundle_is_reported_with_location(lab: CommandLine, tmp_path: Path) -> None:
    files = content_of(exported(lab, "study.zip"))
    name = "strata/0/samples.jsonl"
    lines = files[name].splitlines(keepends=True)
    lines[6] = lines[6].replace(b'"wall_s":0.', b'"wall_s":9.', 1)
    path = tmp_path / "edited.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for other, content in files.items():
            archive.writestr(other, b"".join(lines) if other == name else content)
    answer = lab("study", "verify", path)
    assert answer.status == 1
    assert f"{name}, entry 7: was changed (sample 7 of stratum 0)." in answer.out
    found = lab("study", "verify", path, "--json").document
    assert (found["holds"], found["broken"]["file"], found["broken"]["entry"]) == (False, name, 7)


@pytest.mark.rotating
def test_invalid_bundle_is_refused(lab: CommandLine, tmp_path: Path) -> None:
    for content in (b"", b"hello", exported(lab, "study.zip").read_bytes()[:3000]):
        path = tmp_path / "some.zip"
        path.write_bytes(content)
        answer = lab("study", "verify", path)
        assert (answer.status, answer.out) == (2, "")
        assert len(answer.err.splitlines()) == 2
    assert lab("study", "verify", tmp_path / "none.zip").status == 2


@pytest.mark.rotating
def test_signature_is_verified(lab: CommandLine, tmp_path: Path) -> None:
    assert shutil.which("ssh-keygen"), "tools/system-packages test installs openssh-client"
    path, key = exported(lab, "signed.zip"), tmp_path / "key"
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]
    subprocess.run(make, check=True, stdin=subprocess.DEVNULL)
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "assay-bundle", path]
    path.with_name("signed.zip.sig").unlink(missing_ok=True)
    subprocess.run(sign, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    words = ("study", "verify", path, "--signature", f"{path}.sig", "--signer", f"{key}.pub")
    answer = lab(*words)
    assert (answer.status, "good, by the specified key" in answer.out) == (0, True)
    # Even a consistent bundle is not accepted in place of the signed one.
    other = exported(lab, "other.zip", "--no-outputs")
    answer = lab("study", "verify", other, *words[3:])
    assert (answer.status, "changed after it was signed" in answer.out) == (1, True)
    assert lab(*words, "--json").document["signature"]["good"] is True
    alone = lab("study", "verify", path, "--signature", f"{path}.sig")
    assert (alone.status, "go together" in alone.err) == (2, True)


@pytest.mark.rotating
def test_plain_exports_contain_samples(lab: CommandLine) -> None:
    folder = lab.folder
    words = (
        "--csv",
        folder / "s.csv",
        "--openmetrics",
        folder / "s.om",
        "--json",
        folder / "s.json",
    )
    answer = lab("study", "export", "last", *words)
    assert answer.status == 0, answer.err
    documents = lab.documents()
    rows = list(csv.DictReader((folder / "s.csv").open(newline="")))
    assert [float(row["wall_s"]) for row in rows] == [d["wall_s"] for d in documents]
    assert {row["metric.rate"] for row in rows} == {"200001.0", "1001.0"}
    assert {row["setting.arg.n"] for row in rows} == {"200000", "1000"}
    whole = json.loads((folder / "s.json").read_text())
    assert len(whole["samples"]) == len(whole["outputs"]) == len(documents)
    assert whole["schema"] == 2
    text = (folder / "s.om").read_text()
    assert text.endswith("# EOF\n")
    assert text.count("\nassay_sample_rate{") == len(documents)
    # The format follows from the file name; `-` is standard output.
    assert lab("study", "export", "last", "-o", folder / "t.csv").status == 0
    assert (folder / "t.csv").read_bytes() == (folder / "s.csv").read_bytes()
    printed = lab("study", "export", "last", "--csv", "-")
    assert list(csv.DictReader(io.StringIO(printed.out))) == rows
    assert lab("study", "export", "last", "--json").document["samples"] == whole["samples"]


def test_unwritable_export_is_reported(
    lab: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process: an invalid command line spends most of its time loading Python modules."""
    monkeypatch.setenv("ASSAY_DB", str(lab.store))
    monkeypatch.chdir(tmp_path)
    endings = (".zip or .assay (a bundle)", ".csv (a", ".json (the whole", ".txt (Open")
    for status, says, words in (
        (2, ("needs the form of the export",), ("export", "last")),
        (2, ("needs a study",), ("export",)),
        (2, ("Unexpected argument",), ("export", "last", "x.zip")),
        (2, ("unknown suffix", *endings), ("export", "last", "-o", "x.bin")),
        (2, ("does not exist",), ("export", "last", "--bundle", "none/x.zip")),
        (2, ("is a directory",), ("export", "last", "--bundle", str(tmp_path))),
        (2, ("Two exports",), ("export", "last", "--bundle", "x", "--csv", "x")),
        (2, ("takes no --bundle",), ("show", "last", "--bundle", "x")),
        (2, ("takes no --signer",), ("export", "last", "--signer", "x")),
        (3, ("No space left",), ("export", "last", "--csv", "/dev/full")),
    ):
        assert main(["study", *words]) == status
        result = capsys.readouterr()
        assert result.out == ""
        assert all(text in result.err for text in says), result.err
        assert "Traceback" not in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.rotating
def test_running_study_is_exported_partially(assay_exec: Path, tmp_path: Path) -> None:
    cli = CommandLine(assay_exec, tmp_path)
    with cli.begun("measure", "--budget", "60s", "--precision", "0.0001%", "--", "sleep", "0.01"):
        cli.wait_for(20)
        answer = cli("study", "export", "last", "--bundle", "part.zip")
        assert answer.status == 0, answer.err
        assert "still running" in answer.err
        found = cli("study", "verify", "part.zip")
    assert found.status == 0, found
    assert "none of stratum 0" in found.out
    files = content_of(tmp_path / "part.zip")
    assert 20 <= len(files["strata/0/samples.jsonl"].splitlines()) <= len(cli.samples())
    assert json.loads(files["study.json"])["status"] == "running"


@pytest.mark.rotating
def test_host_details_do_not_affect_verification(assay_exec: Path, tmp_path: Path) -> None:
    """A changed library is reported when a study resumes; a bundle cannot contain that."""
    cli = CommandLine(assay_exec, tmp_path)
    assert cli("measure", "--runs", "6", "--", "sleep", "0.01").status == 0
    plug = tmp_path / "libplug.so"
    plug.write_text("another")
    seen = Evidence(kind="libraries", value=1.0, note=f"{plug} 3 {10**18}")
    with open_store(cli.store) as store:
        study_id = store.find("last")
        store.acquire(study_id)
        first, *others = store.samples(study_id)
        first = msgspec.structs.replace(first, evidence=(seen,))
        store.replace_samples(study_id, 0, (first, *others))
    found = cli("study", "resume", "last", "--runs", "3", "--json")
    assert found.status == 0, found.err
    (note,) = [note for note in found.document["notes"] if "libplug.so" in note]
    assert "--new-stratum" in note
    answer = cli("study", "export", "last", "--bundle", "plug.zip")
    assert answer.status == 0
    assert "differs from the one that this assay computes" not in answer.err
    answer = cli("study", "verify", "plug.zip")
    assert answer.status == 0, answer.out
    assert "libplug" not in content_of(tmp_path / "plug.zip")["strata/0/conclusion.json"].decode()


@pytest.fixture(scope="module")
def large(assay_exec: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Return a store with a study whose export takes a moment."""
    cli = CommandLine(assay_exec, tmp_path_factory.mktemp("large"))
    text = os.urandom(2048).hex().encode()
    output = Output(stream="stdout", size_bytes=4096, sha256="0" * 64, head=text)
    with open_store(cli.store) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for block in range(SAMPLES):
            sample = msgspec.structs.replace(make_sample(block), outputs=(output,))
            store.add_sample(study_id, 0, sample, make_plan())
    return cli


@pytest.mark.rotating
@pytest.mark.parametrize("number", cases([signal.SIGKILL], slow=[signal.SIGINT, signal.SIGTERM]))
def test_interrupted_export_leaves_no_partial_file(
    large: CommandLine, number: signal.Signals
) -> None:
    target = large.folder / "whole.zip"
    assert large("study", "export", "last", "--bundle", target).status == 0
    before = target.read_bytes()
    words = ("study", "export", "last", "--bundle", target, "--csv", large.folder / "new.csv")
    caught = 0
    for delay_s in (0.0, 0.01, 0.03, 0.1):
        with large.begun(*words) as process:
            end = time.monotonic() + 30
            # Wait until a file is partly written.
            while not parts(large) and process.poll() is None and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(delay_s)
            process.send_signal(number)
            process.wait(30)
        caught += process.returncode != 0
        assert target.read_bytes() == before
        if number is not signal.SIGKILL:
            assert parts(large) == []
        for part in parts(large):
            part.unlink()
        csv_file = large.folder / "new.csv"
        if csv_file.exists():
            assert len(list(csv.reader(csv_file.open(newline="")))) == SAMPLES + 1
            csv_file.unlink()
    assert caught > 0


def parts(cli: CommandLine) -> list[Path]:
    return [path for path in cli.folder.iterdir() if path.name.endswith(".part")]


@pytest.mark.rotating
def test_store_without_outputs_is_exported(assay_exec: Path, tmp_path: Path) -> None:
    """Samples of an earlier assay have neither outputs nor plans."""
    cli = CommandLine(assay_exec, tmp_path)
    answer = cli("compare", "--runs", "20", "sleep 0.01", "sleep 0.02")
    assert answer.status == 0, answer.err
    with closing(sqlite3.connect(cli.store)) as connection, connection:
        connection.execute("DELETE FROM output")
        connection.execute("DELETE FROM plan")
    assert cli("study", "export", "last", "--bundle", "old.zip").status == 0
    assert cli("study", "verify", "old.zip").status == 0
