"""Real programs under the tier compute the same results as without it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

MIB = 1 << 20

NUMPY = """
import hashlib, numpy as np
random = np.random.default_rng(1)
values = random.standard_normal(12 << 20)
matrix = values[: 3000 * 3000].reshape(3000, 3000)
table = np.add.outer(np.arange(1500), np.arange(1500))
for one in (np.sort(values), table.T.copy(), np.cumsum(values), matrix.T @ np.ones(3000)):
    print(hashlib.blake2b(one.tobytes()).hexdigest())
"""

SCIPY = """
import hashlib, numpy as np, scipy.fft, scipy.linalg, scipy.sparse
random = np.random.default_rng(2)
signal = random.standard_normal(3 << 20) + 1j * random.standard_normal(3 << 20)
print(hashlib.blake2b(scipy.fft.fft(signal, overwrite_x=True).tobytes()).hexdigest())
rows, columns = random.integers(0, 200_000, (2, 1_500_000))
matrix = scipy.sparse.csr_array(
    (random.standard_normal(1_500_000), (rows, columns)), shape=(200_000, 200_000)
)
vector = np.ones(200_000)
for _ in range(5):
    vector = matrix @ vector
    vector /= np.abs(vector).max()
print(hashlib.blake2b(vector.tobytes()).hexdigest())
lu, pivots = scipy.linalg.lu_factor(random.standard_normal((2000, 2000)))
print(hashlib.blake2b(pivots.tobytes()).hexdigest())
"""

SQLITE = """
import hashlib, random, sqlite3, sys
given = random.Random(3)
file = sqlite3.connect(sys.argv[1])
file.execute("create table t (k integer primary key, v text, n integer)")
file.executemany(
    "insert into t values (?, ?, ?)",
    ((i, "%0200x" % given.getrandbits(800), given.randrange(1000)) for i in range(150_000)),
)
file.execute("create index i on t (n)")
file.commit()
base = sqlite3.connect(":memory:")
base.deserialize(file.serialize())
digest = hashlib.blake2b()
for query in (
    "select n, count(*), max(v) from t group by n order by n",
    "select v from t where k % 997 = 3 order by v",
    "select sum(n) from t where k between 5000 and 120000",
):
    digest.update(repr(base.execute(query).fetchall()).encode())
base.execute("update t set v = upper(v) where k % 7 = 0")
digest.update(repr(base.execute("select sum(length(v)), min(v) from t").fetchall()).encode())
print(digest.hexdigest())
"""

TORCH = """
import hashlib, torch
torch.manual_seed(4)
torch.set_num_threads(1)
images = torch.randn(64, 3, 160, 160)
layers = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(4),
    torch.nn.Flatten(), torch.nn.Linear(32 * 39 * 39, 64),
)
optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    loss = layers(images).square().mean()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.6e}")
for one in layers.parameters():
    print(hashlib.blake2b(one.detach().numpy().tobytes()).hexdigest())
"""


def same_with_and_without(
    assay_exec: Path, disk: Path, tmp_path: Path, program: str, *words: str, dram: str = "48M"
) -> None:
    """Run a program with and without the tier, which must use its disk."""
    report = tmp_path / "report"
    plain = [sys.executable, "-c", program, *words]
    wanted = subprocess.run(plain, capture_output=True, text=True, check=True).stdout
    for word in words:
        Path(word).unlink(missing_ok=True)
    more = {
        "ASSAY_TIER_REPORT": str(report),
        "ASSAY_TIER_THRESHOLD": str(MIB),
    }
    tier = ("tier", "run", "--dram", dram, "--path", disk, "--", *plain)
    answer = CommandLine(assay_exec, tmp_path, more=more)(*tier)
    assert answer.status == 0, answer
    assert answer.out == wanted
    counts = [json.loads(line) for line in report.read_text().splitlines()]
    assert sum(one["read_bytes"] for one in counts) > 50 * MIB


@pytest.mark.rotating
@pytest.mark.parametrize("program", [NUMPY, SCIPY], ids=["numpy", "scipy"])
def test_numpy_program_computes_same_result(
    assay_exec: Path, tier_allowed: None, disk: Path, tmp_path: Path, program: str
) -> None:
    same_with_and_without(assay_exec, disk, tmp_path, program)


@pytest.mark.rotating
def test_database_program_computes_same_result(
    assay_exec: Path, tier_allowed: None, disk: Path, tmp_path: Path
) -> None:
    same_with_and_without(assay_exec, disk, tmp_path, SQLITE, str(tmp_path / "base"))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_training_program_computes_same_result(
    assay_exec: Path, tier_allowed: None, disk: Path, tmp_path: Path
) -> None:
    same_with_and_without(assay_exec, disk, tmp_path, TORCH, dram="160M")
