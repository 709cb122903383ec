"""Bytes that arguments and environment leave free of the kernel's limit."""

from __future__ import annotations

import os
import resource
import subprocess
from functools import partial

import pytest

from assay.launch.argument_limit import RESERVE_BYTES, free_argument_bytes

LIMIT = 256 * 1024
STACK = {"resource": "stack", "soft": 4 * LIMIT, "hard": None}


@pytest.mark.parametrize("word", ["x", "é", "\udce9", "word" * 20])
def test_free_bytes_match_kernel_limit(word: str) -> None:
    """The environment may grow by the free bytes and the reserve, except for two paths."""
    count = LIMIT // (len(os.fsencode(word)) + 9) - 900
    env, more = {"A": word, "B": "2"}, {"B": "longer"}
    document = {"argv": ["/bin/true", *[word] * count], "env_set": more, "rlimits": [STACK]}
    left = free_argument_bytes(document, env) + RESERVE_BYTES

    def starts(more_bytes: int) -> bool:
        variables = {**env, **more, "P": "x" * (more_bytes - len("P=") - 9)}
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        limited = partial(resource.setrlimit, resource.RLIMIT_STACK, (STACK["soft"], hard))
        try:
            subprocess.run(document["argv"], env=variables, preexec_fn=limited, check=True)
        except OSError:
            return False
        return True

    assert starts(left - 64)
    assert not starts(left + 64)


def test_free_bytes_of_instances_are_the_least() -> None:
    own = [{"argv": ["a"]}, {"argv": ["a", "b" * 999], "env_set": {"C": "1"}}]
    document = {"argv": ["a"], "instances": own}
    alone = {"argv": own[1]["argv"], "env_set": {"C": "1"}}
    assert free_argument_bytes(document, {}) == free_argument_bytes(alone, {})


def test_free_bytes_follow_stack_limit() -> None:
    def of(soft: int | None) -> int:
        rlimits = [{"resource": "stack", "soft": soft, "hard": None}]
        return free_argument_bytes({"argv": ["a"], "rlimits": rlimits}, dict(os.environ))

    assert of(4096) == of(512 * 1024) < of(1024 * 1024) < of(None) == of(2**40)
