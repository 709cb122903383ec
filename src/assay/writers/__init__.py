"""Files that a program copies or includes to report its progress to assay."""

import os


def get_include() -> str:
    """Return the folder with ``assay_progress.h`` for C and C++, and ``assay_progress.py``.

    Example::

        cc -I"$(python3 -c 'import assay; print(assay.get_include())')" program.c
    """
    return os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
