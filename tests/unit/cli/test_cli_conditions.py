"""``assay study compare``: words, outputs, exit status, bundles that hold and that do not."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

from assay.cli.main import main
from assay.records.comparison import OccasionComparison
from assay.store import open_store

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from occasion_studies import Conditions, calibrations, measure, times

TALK = Path(__file__).parents[2] / "fixtures" / "mos_runs.csv"
STEADY = (1.000, 1.004, 0.997, 1.002, 0.996, 1.001)
NEW = Conditions(day=1, boot="bbbbbbbbbbbb", kernel="6.12.0")


class Shell:
    """Runs ``assay study compare`` with a store of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.db = folder / "studies.db"
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        status = main(["study", *words, "--db", str(self.db)])
        out, err = self._capsys.readouterr()
        return status, out, err

    def refused(self, *words: str) -> str:
        status, out, err = self("compare", *words)
        assert (status, out) == (2, ""), (status, out)
        return err

    def exported(self, study: str, name: str) -> Path:
        path = self.folder / name
        status, _, err = self("export", study, "--bundle", str(path))
        assert status == 0, err
        return path


@pytest.fixture
def shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TALK, tmp_path / "mos_runs.csv")
    return Shell(tmp_path, capsys)


@pytest.fixture
def pair(shell: Shell) -> tuple[str, str]:
    """Two studies, of which the second takes a tenth less time under another kernel."""
    return (
        measure("a", times(1)).stored(shell.db),
        measure("b", times(2, mean=0.9), NEW).stored(shell.db),
    )


def test_two_studies_measured_once_each_are_unproven(shell: Shell, pair: tuple[str, str]) -> None:
    a, b = pair
    status, out, _ = shell("compare", a, b)
    assert status == 0
    first, second, *_ = out.splitlines()
    assert first.startswith(f"Unproven: {b} takes 10.0 % less time than {a} in these launches")
    assert second == "The design cannot separate the effects of: day, boot, kernel."
    assert "kernel: 6.1.0 -> 6.12.0" in out
    assert "next: Measure the same on 5 other occasions" in out


def test_calibrations_of_several_days_prove_it(shell: Shell, pair: tuple[str, str]) -> None:
    for one in calibrations(STEADY):
        one.stored(shell.db)
    status, out, _ = shell("compare", *pair, "--json")
    document = json.loads(out)
    assert (status, document["verdict"]) == (0, "faster")
    assert document["beyond_margin"] is True
    assert document["covered_differences"] == ["day", "boot"]
    assert set(document) - {"schema"} <= set(OccasionComparison.__struct_fields__)
    assert shell("compare", *pair, "--fail-if", "faster")[0] == 1
    assert shell("compare", *pair, "--fail-if", "faster", "--margin", "20%")[0] == 0
    assert shell("compare", *pair, "--fail-if", "unproven,slower")[0] == 0
    text = shell("compare", *pair)[1]
    assert "6 occasions vary by" in text
    assert "The interval covers day and boot." in text


def test_samples_between_two_occasions_are_not_read(
    shell: Shell, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for mean in (1.0, 1.01, 1.02):
        for one in calibrations([mean * value for value in STEADY]):
            one.stored(shell.db)
    with open_store(str(shell.db)) as store:
        kind = type(store)
    read, reads = kind.iterate_samples, []

    def iterate_samples(self, study_id, number=None):
        reads.append(study_id)
        return read(self, study_id, number)

    monkeypatch.setattr(kind, "iterate_samples", iterate_samples)
    assert shell("compare", *pair, "--fail-if", "faster")[0] == 1
    assert len(reads) == 2 + len(STEADY)


def test_an_unproven_difference_can_fail_a_gate(shell: Shell, pair: tuple[str, str]) -> None:
    assert shell("compare", *pair, "--fail-if", "unproven")[0] == 1
    assert "unknown verdict 'wrong'" in shell.refused(*pair, "--fail-if", "wrong")


def test_markdown_has_both_tables(shell: Shell, pair: tuple[str, str]) -> None:
    a, b = pair
    status, out, _ = shell("compare", a, b, "--markdown")
    assert status == 0
    assert "| condition | measured | n | mean in s | sd |" in out
    assert f"| subject | item | {a} | {b} |" in out
    assert "--json and --markdown" in shell.refused(a, b, "--json", "--markdown")


def test_last_is_a_study(shell: Shell, pair: tuple[str, str]) -> None:
    a, _ = pair
    assert shell("compare", a, "last")[0] == 0
    assert "the same launches" in shell.refused("last", "last")


def test_a_bundle_of_another_machine_is_compared(shell: Shell, pair: tuple[str, str]) -> None:
    a, b = pair
    bundle = shell.exported(b, "b.zip")
    assert shell("delete", b)[0] == 0
    status, out, _ = shell("compare", a, str(bundle), "--json")
    document = json.loads(out)
    assert status == 0
    assert document["b"]["source"] == "bundle"
    assert document["confounded"] == ["day", "boot", "host", "kernel"]
    assert shell("compare", a, f"{bundle}:0@default")[0] == 0
    assert "has no stratum 3" in shell.refused(a, f"{bundle}:3")


def test_two_strata_of_one_study_are_two_conditions(shell: Shell) -> None:
    old, new = measure("a", times(1)), measure("b", times(2, mean=0.9), NEW)
    study = old.stored(shell.db)
    with open_store(str(shell.db)) as store:
        store.acquire(study)
        store.add_stratum(study, msgspec.structs.replace(new.stratum, number=1))
        for sample in new.samples:
            store.add_sample(study, 1, sample)
    found = json.loads(shell("compare", f"{study}:0", study, "--json")[1])
    assert [found[side].get("stratum") for side in ("a", "b")] == [0, 1]
    assert found["confounded"] == ["day", "boot", "kernel"]
    assert "the same launches" in shell.refused(f"{study}:1", study)


def test_two_bundles_need_no_store(shell: Shell, pair: tuple[str, str]) -> None:
    bundles = [str(shell.exported(one, f"{one}.zip")) for one in pair]
    shell.db = shell.folder / "nothing" / "studies.db"
    assert shell("compare", *bundles)[0] == 0


def test_the_bundle_of_a_study_is_that_study(shell: Shell, pair: tuple[str, str]) -> None:
    a, _ = pair
    assert "the same launches" in shell.refused(a, str(shell.exported(a, "a.zip")))


def test_occasions_come_from_bundles_too(shell: Shell, pair: tuple[str, str]) -> None:
    bundles = []
    for number, one in enumerate(calibrations(STEADY)):
        study = one.stored(shell.db)
        bundles.append(str(shell.exported(study, f"{number}.zip")))
        assert shell("delete", study)[0] == 0
    assert json.loads(shell("compare", *pair, "--json")[1])["verdict"] == "unproven"
    named = [word for path in bundles for word in ("--occasion", path)]
    assert json.loads(shell("compare", *pair, "--json", *named)[1])["verdict"] == "faster"


def test_a_bundle_that_was_changed_is_refused(shell: Shell, pair: tuple[str, str]) -> None:
    a, b = pair
    good, forged = shell.exported(b, "b.zip"), shell.folder / "forged.zip"
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("samples.jsonl"):
                content = content.replace(b'"wall_s":0.9', b'"wall_s":0.8', 1)
            new.writestr(name, content)
    told = shell.refused(a, str(forged))
    assert "forged.zip was changed after it was written, and is not compared" in told
    assert "strata/0/samples.jsonl, entry" in told


def test_the_talk_is_compared_line_by_line(shell: Shell) -> None:
    status, out, _ = shell("compare", "mos_runs.csv:2", "mos_runs.csv:3")
    assert status == 0
    assert out.startswith("Unproven: mos_runs.csv:3 takes 17.4 % less time than mos_runs.csv:2")
    assert "(95 % interval of launches alone -17.8 to -17.0 %)" in out
    assert "  os: Linux -> mOS" in out
    assert "published" in out
    status, out, _ = shell("compare", "mos_runs.csv:2", "n=30,mean=247.3,sd=1.06,sem=0.20")
    assert status == 0
    assert "17.4 % less time" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("mos_runs.csv:2",), "takes two conditions"),
        (("mos_runs.csv", "mos_runs.csv:2"), "a row of it is named by its line"),
        (("none.csv:2", "mos_runs.csv:2"), "There is no file none.csv"),
        (("mos_runs.csv:2", "./none.zip"), "There is no file ./none.zip"),
        (("mos_runs.csv:2", "none.zip@x"), "There is no file none.zip"),
        (("mos_runs.csv:2", "mos_runs.csv:99"), "has no line 99: it has 37 lines"),
        (("mos_runs.csv:2", "n=30,mean=3"), "has no sd"),
        (("mos_runs.csv:2", "empty.zip"), "neither a bundle nor a table"),
        (("mos_runs.csv:2", "latin.csv:2"), "is not text in UTF-8"),
    ],
)
def test_words_that_name_nothing_are_refused(
    shell: Shell, words: tuple[str, ...], told: str
) -> None:
    (shell.folder / "empty.zip").write_bytes(b"")
    (shell.folder / "latin.csv").write_bytes(b"n,mean,sd\n3,\xfc,1\n")
    assert told in shell.refused(*words)


def test_an_unknown_study_is_refused(shell: Shell, pair: tuple[str, str]) -> None:
    a, _ = pair
    assert "the file of a bundle" in shell.refused(a, "zzzzzzz")
    assert "'x' is not the number of a stratum" in shell.refused(a, f"{a}:x")
    assert "has no stratum 7" in shell.refused(a, f"{a}:7")


def test_options_of_compare_are_of_compare_alone(shell: Shell, pair: tuple[str, str]) -> None:
    a, _ = pair
    status, _, err = shell("show", a, "--margin", "2%")
    assert status == 2
    assert "`assay study compare` does" in err
    assert "Unexpected argument" in shell("show", a, a)[2]
