"""Caller of sudo, and files that other users can write and root would load."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.launch.hook_report import HookReport
from assay.machine.rights import read_rights
from assay.machine.root import Root
from assay.root_helper import installation
from assay.root_helper.caller import Caller, sudo_caller
from assay.root_helper.installation import first_exposed_path

NOBODY = Caller(65534, 65534, (65534,), "nobody", "/nonexistent")


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"SUDO_UID": "1000"},
        {"SUDO_GID": "1000"},
        {"SUDO_UID": "0", "SUDO_GID": "0"},
        {"SUDO_UID": "-1", "SUDO_GID": "1000"},
        {"SUDO_UID": "x", "SUDO_GID": "1000"},
        {"SUDO_UID": "", "SUDO_GID": ""},
        {"SUDO_UID": "\u0661", "SUDO_GID": "1"},  # a digit of another script
    ],
)
def test_no_sudo_caller(env: dict[str, str]) -> None:
    assert sudo_caller(env) is None


def test_user_without_entry_is_named_by_number() -> None:
    found = sudo_caller({"SUDO_UID": "4000000", "SUDO_GID": "4000001", "SUDO_USER": "root"})
    assert found == Caller(4000000, 4000001, (4000001,), "4000000", "/")
    assert found.numbers == "4000000:4000001:4000001"
    assert found.variables == {"HOME": "/", "USER": "4000000", "LOGNAME": "4000000"}


def test_home_is_that_of_sudo() -> None:
    found = sudo_caller({"SUDO_UID": "4000000", "SUDO_GID": "1", "SUDO_HOME": "/home/x"})
    assert found is not None
    assert found.home == "/home/x"


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Provide a launcher in a folder of root, in a safe installation."""
    if os.geteuid() != 0:
        pytest.skip("files of root's are made as root")
    launcher = tmp_path / "bin" / "assay-exec"
    launcher.parent.mkdir()
    launcher.write_text("")
    package = tmp_path / "assay"
    (package / "launch").mkdir(parents=True)
    (package / "launch" / "installation.py").write_text("")
    (package / "launch" / "driver.py").write_text("")
    monkeypatch.setattr(installation, "__file__", str(package / "launch" / "installation.py"))
    if (place := first_exposed_path(launcher, NOBODY)) is not None:
        pytest.skip(f"others can write {place} here")
    return launcher


@pytest.mark.parametrize("part", ["", "..", "../../assay/launch", "../../assay/launch/driver.py"])
@pytest.mark.parametrize("how", ["all may write", "another's"])
def test_path_writable_by_others_is_found(sound: Path, part: str, how: str) -> None:
    place = sound / part if part != ".." else sound.parent
    place = Path(os.path.normpath(place))
    if how == "another's":
        os.chown(place, 65534, 65534)
    else:
        place.chmod(place.stat().st_mode | 0o002)
    assert first_exposed_path(sound, NOBODY) == place


def test_group_without_members_is_no_exposure(sound: Path) -> None:
    os.chown(sound, 0, 65534)
    sound.chmod(0o775)
    assert first_exposed_path(sound, NOBODY) == sound
    assert first_exposed_path(sound, Caller(1, 1, (1,), "daemon", "/")) is None  # nogroup has none
    os.chown(sound, 0, 0)
    assert first_exposed_path(sound, NOBODY) is None


def test_link_target_is_checked(sound: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    sound.rename(elsewhere / "assay-exec")
    sound.symlink_to(elsewhere / "assay-exec")
    assert first_exposed_path(sound, NOBODY) is None
    elsewhere.chmod(0o777)
    assert first_exposed_path(sound, NOBODY) == elsewhere


@pytest.mark.parametrize("target", ["{}/middle", "../elsewhere/middle", "side/../middle"])
def test_chain_of_links_is_checked(sound: Path, tmp_path: Path, target: str) -> None:
    elsewhere, end = tmp_path / "elsewhere", tmp_path / "end"
    for folder in (elsewhere, end, elsewhere / "within"):
        folder.mkdir()
    sound.rename(end / "assay-exec")
    (elsewhere / "middle").symlink_to(end / "assay-exec")
    (sound.parent / "side").symlink_to(elsewhere / "within")  # whose .. is elsewhere
    sound.symlink_to(target.format(elsewhere))
    assert sound.resolve() == end / "assay-exec"
    assert first_exposed_path(sound, NOBODY) is None
    elsewhere.chmod(0o777)
    assert first_exposed_path(sound, NOBODY) == elsewhere


def test_link_target_in_package_is_checked(sound: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("")
    (tmp_path / "assay" / "launch" / "linked.py").symlink_to(elsewhere)
    assert first_exposed_path(sound, NOBODY) is None
    elsewhere.chmod(0o666)
    assert first_exposed_path(sound, NOBODY) == elsewhere


def test_cyclic_links_terminate(sound: Path) -> None:
    sound.unlink()
    sound.symlink_to(sound.name + "/within")
    assert first_exposed_path(sound, NOBODY) is None


def test_rights_are_read_from_given_status() -> None:
    status = "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000800000\n"
    rights = read_rights(Root(), status)
    assert (rights.uid, rights.capabilities) == (0, frozenset({"CAP_SYS_NICE"}))


@pytest.mark.parametrize("named", [True, False])
def test_report_is_read_and_removed(named: bool) -> None:
    report = HookReport(named=named)
    with report.path.open("ab") as file:
        file.write(b"told\n")
    assert report.read() == "told\n"
    report.close()
    assert not (named and report.path.exists())
