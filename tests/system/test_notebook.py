"""Studies in a kernel of Jupyter: interrupts, event loops, threads and the bar of progress."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay

pytest.importorskip("ipykernel", reason="ipykernel is not installed (group test)")
manager = pytest.importorskip("jupyter_client.manager", reason="jupyter_client is not installed")

pytestmark = pytest.mark.system

TIMEOUT_S = 120
SLOW = 'assay.measure(["sleep", "1"], budget="60s")'
# Output of a cell precedes its next statement: only the stack shows that the statement has begun.
INTERRUPTED_WAIT = """
import os, signal, sys, threading, time

def interrupt_once_waiting(main=threading.main_thread().ident):
    while True:
        frame = sys._current_frames()[main]
        while frame is not None:
            if frame.f_code is assay.Study.wait.__code__:
                return os.kill(os.getpid(), signal.SIGINT)
            frame = frame.f_back
        time.sleep(0.01)

threading.Thread(target=interrupt_once_waiting).start()
study.result()
"""


class Kernel:
    """Kernel that runs cells."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._client = kernel.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=TIMEOUT_S)

    def run(self, code: str, *, interrupt_at: str | None = None) -> dict[str, Any]:
        """Run a cell, and return its texts and the traceback of its error.

        Args:
            code: source of the cell.
            interrupt_at: text of an output after which the kernel is interrupted.
        """
        asked = self._client.execute(code)
        found: dict[str, Any] = {"text": "", "shown": [], "error": ""}
        while True:
            message = self._client.get_iopub_msg(timeout=TIMEOUT_S)
            if message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    found["text"] += content["text"]
                case "error":
                    found["error"] = "\n".join(content["traceback"])
                case "execute_result" | "display_data" | "update_display_data":
                    found["shown"].append(content["data"])
                case "status" if content["execution_state"] == "idle":
                    return found
            if interrupt_at and (
                interrupt_at in str(found["shown"]) or interrupt_at in found["text"]
            ):
                interrupt_at = None
                self._kernel.interrupt_kernel()

    def close(self) -> None:
        self._client.stop_channels()
        self._kernel.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory, assay_exec: Path) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("notebook")
    found = manager.KernelManager(kernel_name="python3")
    found.start_kernel(
        cwd=str(folder),
        env={
            **os.environ,
            "ASSAY_DB": str(folder / "studies.db"),
            "ASSAY_EXEC": str(assay_exec),
            "ASSAY_DISTURBED_ABOVE": "never",
            "PYTHONPATH": str(Path(assay.__file__).parents[1]),
        },
    )
    running = Kernel(found)
    try:
        running.run("import assay")
        yield running
    finally:
        running.close()


@pytest.mark.parametrize(
    "call", [SLOW, f"await {SLOW.replace('measure', 'measure_async')}"], ids=["call", "await"]
)
def test_interrupt_of_a_cell_leaves_a_study_that_is_resumed(kernel: Kernel, call: str) -> None:
    interrupted = kernel.run(call, interrupt_at=" left")
    assert "continues it" in interrupted["error"]
    assert "assay.resume(" in interrupted["error"]
    state = kernel.run("str(assay.load_study().status)")
    assert "interrupted" in state["shown"][0]["text/plain"]
    resumed = kernel.run("assay.resume(runs=2)")
    assert resumed["error"] == ""
    assert "assay-result" in resumed["shown"][-1]["text/html"]


def test_traceback_of_an_interrupt_has_no_frame_below_the_public_function(kernel: Kernel) -> None:
    error = kernel.run(SLOW, interrupt_at=" left")["error"]
    assert "KeyboardInterrupt" in error
    assert "executors" not in error


def test_error_of_a_cell_is_short(kernel: Kernel) -> None:
    error = kernel.run('assay.measure(["true"], bugdet="5s")')["error"]
    assert "Did you mean budget?" in error
    assert "argument_types" not in error


def test_bar_shows_values_and_disappears(kernel: Kernel) -> None:
    program = "for step in {1..40}; do echo step $step sps: 5.0; sleep 0.1; done"
    cell = f"assay.measure({program!r}, shell=True, progress='sps=sps: ([0-9.]+)', runs=1)"
    shown = kernel.run(f"result = {cell}")["shown"]
    assert any("<progress" in one["text/html"] and "sps 5" in one["text/html"] for one in shown)
    assert shown[-1] == {"text/plain": "", "text/html": ""}


def test_study_in_a_thread_leaves_the_kernel_free(kernel: Kernel) -> None:
    kernel.run('study = assay.Study(assay.measure, ["sleep", "3"], budget="60s").start()')
    # The bar of the study may be shown beside it, before or after.
    shown = kernel.run("study")["shown"]
    assert any("running" in one["text/plain"] for one in shown), shown
    assert "Another study of this process" in kernel.run('assay.measure(["true"], runs=6)')["error"]
    waiting = kernel.run(INTERRUPTED_WAIT)
    assert "The study still runs: its method stop() ends it." in waiting["error"]
    kernel.run("while study.id is None: pass")
    assert "continues it" in kernel.run("study.stop(); study.result()")["error"]
