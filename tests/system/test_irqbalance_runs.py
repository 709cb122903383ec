"""irqbalance itself, unpacked from its package and run: it keeps away from a partition."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from partitions import CPUS, V1, run_folder, until

from assay.host import irqbalance
from assay.host.host import LiveHost
from assay.machine.tunables import IRQS

HOST = LiveHost()
SOCKETS = Path("/run/irqbalance")

pytestmark = [
    pytest.mark.system,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes partitions"),
    pytest.mark.skipif(not (V1 / "cpuset.cpus").exists(), reason="tried with version 1"),
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU stays with the system"),
    pytest.mark.skipif(irqbalance.banned(HOST) is not None, reason="this host's own one runs"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide irqbalance without installing it: its package would start it on this host."""
    found = shutil.which("irqbalance") or shutil.which("irqbalance", path="/usr/sbin")
    if found is not None:
        return Path(found)
    folder = tmp_path_factory.mktemp("irqbalance")
    if shutil.which("apt-get") is None:
        pytest.skip("there is no irqbalance")
    # apt downloads as the user _apt if that user can write.
    folder.chmod(0o777)
    command = ["apt-get", "download", "-q", "irqbalance"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    packages = list(folder.glob("*.deb"))
    if done.returncode != 0 or not packages:
        pytest.skip("there is no irqbalance, and none to be had")
    subprocess.run(["dpkg", "-x", packages[0], folder], check=True, capture_output=True)
    return folder / "usr" / "sbin" / "irqbalance"


def interrupts() -> dict[str, str]:
    paths = [f"{IRQS}/{name}/smp_affinity_list" for name in HOST.listdir(IRQS)]
    return {path: text for path in paths if (text := HOST.read(path)) is not None}


class Daemon:
    """irqbalance with an interval of one second."""

    def __init__(self, program: Path) -> None:
        self._command = [program, "--foreground", "--interval=1"]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        until(lambda: irqbalance.banned(HOST) or self._process.poll() is not None, "it answers")

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self._process.terminate()
        self._process.wait(30)


@pytest.fixture
def daemon(program: Path) -> Iterator[Daemon]:
    """Run it, and restore the interrupts afterwards."""
    before = interrupts()
    made = not SOCKETS.exists()
    SOCKETS.mkdir(exist_ok=True)
    found = Daemon(program)
    try:
        if not found.runs:
            pytest.skip("irqbalance does not run on such a host")
        yield found
    finally:
        found.end()
        for path, text in before.items():
            if HOST.read(path) != text:
                HOST.write(path, text)
        if made:
            shutil.rmtree(SOCKETS)


@pytest.fixture
def assay(
    tmp_path: Path, assay_exec: Path, assay_broker: Path
) -> Iterator[Callable[..., dict[str, object]]]:
    """Call assay, with folders of the test's own."""
    with run_folder() as folder:
        more = {
            "ASSAY_RUN": str(folder),
            "ASSAY_STATE": str(tmp_path / "state"),
            "ASSAY_DB": str(tmp_path / "x.db"),
            "ASSAY_EXEC": str(assay_exec),
            "ASSAY_BROKER": str(assay_broker),
        }

        def call(*words: str) -> dict[str, object]:
            done = subprocess.run(
                [sys.executable, "-m", "assay", *words, "--json"],
                env={**os.environ, **more},
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert done.returncode == 0, done.stderr + done.stdout
            found: dict[str, object] = json.loads(done.stdout)
            return found

        try:
            yield call
        finally:
            call("machine", "restore")


@pytest.mark.rotating
def test_irqbalance_avoids_cpus_of_partition(
    daemon: Daemon, assay: Callable[..., dict[str, object]]
) -> None:
    own = irqbalance.banned(HOST)
    assay("partition", "create", "lab", "--cpus", str(CPUS[-1]))
    assert irqbalance.banned(HOST) == str(CPUS[-1])
    assert "irqbalance" not in json.dumps(assay("partition", "list"))  # neither refused nor drifted
    assay("partition", "delete", "lab")
    assert irqbalance.banned(HOST) == own


@pytest.mark.rotating
def test_restarted_irqbalance_is_configured_again(
    daemon: Daemon, assay: Callable[..., dict[str, object]]
) -> None:
    assay("partition", "create", "lab", "--cpus", str(CPUS[-1]))
    daemon.end()
    daemon.start()
    assert "irqbalance" in json.dumps(assay("partition", "list"))
    assay("partition", "start", "lab")
    assert irqbalance.banned(HOST) == str(CPUS[-1])


@pytest.mark.rotating
def test_terminated_irqbalance_is_ignored(
    daemon: Daemon, assay: Callable[..., dict[str, object]]
) -> None:
    assay("partition", "create", "lab", "--cpus", str(CPUS[-1]))
    daemon.end()
    assay("partition", "delete", "lab")
