"""Import hook at the front of ``PYTHONPATH`` that sizes the thread pools of frameworks.

It runs in the interpreter of the program (3.7 or later). So it imports nothing of assay, and its
errors are silent: the program must not be affected. Python imports a module of this name at its
start (``site``, "sitecustomize"); a module that this one hides is imported first.

``ASSAY_HOOK_TORCH_INTRA`` and similar variables give the counts. The values read back are appended
to the file ``ASSAY_HOOK_REPORT``, one per line: process, name, moment (``import``, ``exit``), count
or error.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing would take longer than this module
if TYPE_CHECKING:
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow to import


def _torch_intra(torch: Any, count: int) -> None:
    torch.set_num_threads(count)


def _torch_inter(torch: Any, count: int) -> None:
    torch.set_num_interop_threads(count)


def _tf_intra(tensorflow: Any, count: int) -> None:
    tensorflow.config.threading.set_intra_op_parallelism_threads(count)


def _tf_inter(tensorflow: Any, count: int) -> None:
    tensorflow.config.threading.set_inter_op_parallelism_threads(count)


def _read_torch_intra(torch: Any) -> int:
    return int(torch.get_num_threads())


def _read_torch_inter(torch: Any) -> int:
    return int(torch.get_num_interop_threads())


def _read_tf_intra(tensorflow: Any) -> int:
    return int(tensorflow.config.threading.get_intra_op_parallelism_threads())


def _read_tf_inter(tensorflow: Any) -> int:
    return int(tensorflow.config.threading.get_inter_op_parallelism_threads())


# Name -> module, setter, getter, and whether the getter may be called at once. TensorFlow's getters
# look for devices, which is slow and affects the program: they are called at its end.
_POOLS = {
    "torch.intra": ("torch", _torch_intra, _read_torch_intra, True),
    "torch.inter": ("torch", _torch_inter, _read_torch_inter, True),
    "tf.intra": ("tensorflow", _tf_intra, _read_tf_intra, False),
    "tf.inter": ("tensorflow", _tf_inter, _read_tf_inter, False),
}


def _thread_counts() -> dict[str, int]:
    found = {}
    for name in _POOLS:
        text = os.environ.get("ASSAY_HOOK_" + name.upper().replace(".", "_"), "")
        if text.isdigit():
            found[name] = int(text)
    return found


def _report(name: str, moment: str, what: object) -> None:
    path = os.environ.get("ASSAY_HOOK_REPORT")
    if not path:
        return
    text = " ".join(str(what).split())[:200]
    line = f"{os.getpid()} {name} {moment} {text}\n".encode("utf-8", "replace")
    try:
        # One write of a line is not torn between processes that append.
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        try:
            os.write(fd, line)
        finally:
            os.close(fd)
    except OSError:
        pass


def _read(name: str, module: Any, moment: str) -> None:
    try:
        _report(name, moment, _POOLS[name][2](module))
    except Exception as error:
        _report(name, moment, f"error: {error}")


def _apply(module: Any, wanted: dict[str, int]) -> None:
    """Set and read the pools of a module, and read them again at exit."""
    import atexit

    for name, count in wanted.items():
        owner, set_it, _, at_once = _POOLS[name]
        if owner != module.__name__:
            continue
        try:
            set_it(module, count)
        except Exception as error:
            _report(name, "import", f"error: {error}")
            continue
        if at_once:
            _read(name, module, "import")
        else:
            _report(name, "asked", count)
        atexit.register(_read, name, module, "exit")


class _Finder:
    """The first finder of imports; it acts once for each framework."""

    def __init__(self, wanted: dict[str, int]) -> None:
        self._thread_counts = wanted
        self._left = {_POOLS[name][0] for name in wanted}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of the other finders, with a loader that calls back."""
        if name not in self._left:
            return None
        self._left.discard(name)
        for finder in sys.meta_path:
            found = None
            if finder is not self and hasattr(finder, "find_spec"):
                found = finder.find_spec(name, path, target)
            if found is not None:
                self._watch(found.loader)
                return found
        return None

    def _watch(self, loader: Any) -> None:
        run = getattr(loader, "exec_module", None)
        if run is None:
            return

        def exec_module(module: Any) -> None:
            run(module)
            _apply(module, self._thread_counts)

        # The loader belongs to this one module; its other methods (get_source ...) do not change.
        if hasattr(loader, "__dict__"):
            loader.exec_module = exec_module


def _chain() -> None:
    """Import the ``sitecustomize`` that this one hides, under its own name."""
    this_module = sys.modules.pop(__name__, None)
    before = list(sys.path)
    places = [p for p in before if os.path.abspath(p) != _HERE]  # noqa: PTH100
    sys.path[:] = places
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        # Its changes to the path remain, and children find this module through PYTHONPATH.
        if this_module is not None:
            sys.modules.setdefault(__name__, this_module)


if __name__ == "sitecustomize":
    _given = _thread_counts()
    if _given:
        sys.meta_path.insert(0, _Finder(_given))
    _chain()
