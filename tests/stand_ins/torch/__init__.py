"""Stands in for PyTorch: the functions that the import hook calls."""

_counts = {"intra": 8, "inter": 8}
_fixed = False


def set_num_threads(count):
    _counts["intra"] = count


def get_num_threads():
    return _counts["intra"]


def set_num_interop_threads(count):
    global _fixed
    if _fixed:
        raise RuntimeError("cannot set number of interop threads\nafter it was set")
    _fixed = True
    _counts["inter"] = count


def get_num_interop_threads():
    return _counts["inter"]
