"""Costs of kernels equal the operations of their algorithms, counted one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from test_kernels import described, options

pytestmark = pytest.mark.system


@dataclass
class Tally:
    """Counter of operations on the numbers and arrays that it creates."""

    flops: int = 0
    special_functions: int = 0
    read: dict[tuple[int, int], int] = field(default_factory=dict)
    written: dict[tuple[int, int], int] = field(default_factory=dict)
    arrays: int = 0

    def array(self, *values: float, bytes_each: int = 8) -> Array:
        self.arrays += 1
        return Array(self, self.arrays, [Number(self, v) for v in values], bytes_each)

    def ramp(self, n: int, bytes_each: int = 8) -> Array:
        return self.array(*(1.0 + i / 8 for i in range(n)), bytes_each=bytes_each)

    def log(self, x: Number) -> Number:
        self.special_functions += 1
        return Number(self, math.log(x.value))

    def root(self, x: Number) -> Number:
        self.special_functions += 1
        return Number(self, math.sqrt(x.value))

    @property
    def moved_bytes(self) -> int:
        """Count each element that is read, and each that is written, once."""
        return sum(self.read.values()) + sum(self.written.values())

    @property
    def moved_bytes_with_allocate(self) -> int:
        """Also count a read of each element that is written without having been read."""
        return self.moved_bytes + sum(
            size for at, size in self.written.items() if at not in self.read
        )


@dataclass
class Number:
    tally: Tally
    value: float

    def _done(self, value: float) -> Number:
        self.tally.flops += 1
        return Number(self.tally, value)

    def __add__(self, other: Number) -> Number:
        return self._done(self.value + other.value)

    def __sub__(self, other: Number) -> Number:
        return self._done(self.value - other.value)

    def __mul__(self, other: Number) -> Number:
        return self._done(self.value * other.value)

    def __truediv__(self, other: Number) -> Number:
        self.tally.special_functions += 1
        return Number(self.tally, self.value / other.value)


@dataclass
class Array:
    tally: Tally
    name: int
    values: list[Number]
    bytes_each: int

    def __getitem__(self, i: int) -> Number:
        self.tally.read.setdefault((self.name, i), self.bytes_each)
        return self.values[i]

    def __setitem__(self, i: int, value: Number) -> None:
        self.tally.written.setdefault((self.name, i), self.bytes_each)
        self.values[i] = value


def horner(t: Tally, n: int, degree: int, write: int) -> None:
    x, y = t.ramp(n), t.ramp(n)
    coefficients = [Number(t, 0.5) for _ in range(degree + 1)]  # they stay in registers
    for i in range(n):
        at, value = x[i], coefficients[degree]
        for k in reversed(range(degree)):
            value = value * at + coefficients[k]
        if write:
            y[i] = value


def dgemm(t: Tally, m: int, n: int, k: int) -> None:
    a, b, c = t.ramp(m * k), t.ramp(k * n), t.ramp(m * n)
    for i in range(m):
        for j in range(n):
            value = Number(t, 0.0)
            for p in range(k):
                value = value + a[i * k + p] * b[p * n + j]
            c[i * n + j] = value


def lu(t: Tally, n: int) -> None:
    a = t.array(*(float(pow(3, i, 101)) for i in range(n * n)))
    for j in range(n):
        _, pivot = max((abs(a[i + j * n].value), i) for i in range(j, n))
        for c in range(n):
            a[j + c * n], a[pivot + c * n] = a[pivot + c * n], a[j + c * n]
        for i in range(j + 1, n):
            a[i + j * n] = a[i + j * n] / a[j + j * n]
            for c in range(j + 1, n):
                a[i + c * n] = a[i + c * n] - a[i + j * n] * a[j + c * n]


def gram_schmidt(t: Tally, n: int, vectors: int) -> None:
    q, d = t.ramp(n * vectors), t.ramp(n * vectors)
    x, y = t.ramp(n), t.ramp(n)
    for i in range(vectors):
        along = Number(t, 0.0)
        for k in range(n):
            along = along + q[i * n + k] * x[k]
        for k in range(n):
            x[k] = x[k] - along * q[i * n + k]
            y[k] = y[k] - along * d[i * n + k]


def kmeans(t: Tally, points: int, centres: int) -> None:
    colours, middles = t.ramp(3 * points, 4), t.ramp(3 * centres, 4)
    nearest = t.ramp(points, 4)
    for i in range(points):
        best = (math.inf, 0)
        for j in range(centres):
            apart = [colours[3 * i + c] - middles[3 * j + c] for c in range(3)]
            red, green, blue = (one * one for one in apart)
            best = min(best, ((red + green + blue).value, j))
        nearest[i] = Number(t, best[1])


def kmeans_products(t: Tally, points: int, centres: int) -> None:
    colours, middles = t.ramp(3 * points, 4), t.ramp(3 * centres, 4)
    nearest = t.ramp(points, 4)
    halves = []
    for j in range(centres):
        red, green, blue = (middles[3 * j + c] * middles[3 * j + c] for c in range(3))
        halves.append((red + green + blue) * Number(t, 0.5))
    for i in range(points):
        best = (math.inf, 0)
        for j, score in enumerate(halves):
            for c in range(3):
                score = score - colours[3 * i + c] * middles[3 * j + c]
            best = min(best, (score.value, j))
        nearest[i] = Number(t, best[1])


def acoustic(t: Tally, nx: int, ny: int, nz: int, steps: int) -> None:
    """Differences of order 16; cells beyond the grid are zero."""
    weights = [Number(t, 1.0 / (1 + k)) for k in range(9)]
    zero = Number(t, 0.0)
    now, before, speed = (
        {(x, y, z): Number(t, 1.0) for x in range(nx) for y in range(ny) for z in range(nz)}
        for _ in range(3)
    )
    for _ in range(steps):
        after = {}
        for (x, y, z), u in now.items():
            laplacian = weights[0] * u
            for k in range(1, 9):
                first, *others = (
                    now.get((x + k * a, y + k * b, z + k * c), zero)
                    for a, b, c in (
                        (1, 0, 0),
                        (-1, 0, 0),
                        (0, 1, 0),
                        (0, -1, 0),
                        (0, 0, 1),
                        (0, 0, -1),
                    )
                )
                laplacian = laplacian + weights[k] * sum(others, first)
            at = (x, y, z)
            after[at] = Number(t, 2.0) * u - before[at] + speed[at] * laplacian
        before, now = now, after


def krylov(t: Tally, edge: int, steps: int) -> None:
    """Generalised conjugate residuals, with the matrix as seven arrays."""
    grid = [(x, y, z) for z in range(edge) for y in range(edge) for x in range(edge)]
    entries = [[Number(t, 1.0 + k / 8) for _ in grid] for k in range(7)]
    ways = ((0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))
    residual = [Number(t, 1.0 + x + 2 * y * y + 0.3 * z) for x, y, z in grid]
    solution = [Number(t, 0.0) for _ in grid]
    base: list[tuple[list[Number], list[Number]]] = []

    def product(a: list[Number], b: list[Number]) -> Number:
        return sum((one * other for one, other in zip(a, b, strict=True)), Number(t, 0.0))

    def taken(a: list[Number], factor: Number, b: list[Number]) -> list[Number]:
        return [one - factor * other for one, other in zip(a, b, strict=True)]

    for _ in range(steps):
        product(residual, residual)
        y = [one / entry for one, entry in zip(residual, entries[0], strict=True)]
        x = []
        for place, (i, j, k) in enumerate(grid):
            around = (
                dict(zip(grid, y, strict=True)).get((i + a, j + b, k + c), Number(t, 0.0))
                for a, b, c in ways
            )
            first, *others = (entries[n][place] * one for n, one in enumerate(around))
            x.append(sum(others, first))
        for q, d in base:
            along = product(q, x)
            x, y = taken(x, along, q), taken(y, along, d)
        scale = Number(t, product(x, x).value ** -0.5)
        x, y = [scale * one for one in x], [scale * one for one in y]
        weight = product(x, residual)
        solution = [one + weight * other for one, other in zip(solution, y, strict=True)]
        residual = taken(residual, weight, x)
        base.append((x, y))


def log_product(t: Tally, n: int) -> None:
    a, b, c = t.ramp(n), t.ramp(n), t.ramp(n)
    for i in range(n):
        c[i] = t.log(a[i]) * t.log(b[i])


def bandwidth(t: Tally, n: int, operation: int) -> None:
    source, other, to = t.ramp(n), t.ramp(n), t.ramp(n)
    factor, total = Number(t, 0.5), Number(t, 0.0)
    for i in range(n):
        if operation == 0:
            total = total + source[i]
        elif operation == 1:
            to[i] = source[i]
        else:
            to[i] = source[i] + factor * other[i]


def traversal(t: Tally, n: int, update: int) -> None:
    words, total = t.ramp(n), Number(t, 0.0)
    for i in range(n):
        one = words[i]
        total = total + one
        if update:
            words[i] = one + Number(t, 1.0)


def integral_tiles(t: Tally, n: int) -> None:
    integrals, density = t.ramp(n**4), t.ramp(n * n)
    coulomb, exchange = t.ramp(n * n), t.ramp(n * n)
    sums = [Number(t, 0.0) for _ in range(2 * n * n)]
    for at in range(n**4):
        i, j, k, m = at // n**3, at // n**2 % n, at // n % n, at % n
        v = integrals[at]
        sums[i * n + j] = sums[i * n + j] + v * density[k * n + m]
        sums[n * n + i * n + k] = sums[n * n + i * n + k] + v * density[j * n + m]
    for at in range(n * n):
        coulomb[at], exchange[at] = sums[at], sums[n * n + at]


def hyperbolic(t: Tally, nx: int, ny: int, steps: int) -> None:
    """Euler's equations; fluxes through a side follow from both of its cells."""
    half, heat, part, ratio = (Number(t, v) for v in (0.5, 1.4, 0.4, 0.2))
    cells = {
        (x, y): [Number(t, v) for v in (1.0 + x / 9, 0.1 * y, 0.2, 3.0)]
        for x in range(nx)
        for y in range(ny)
    }

    def flow(u: list[Number], along: int) -> tuple[list[Number], float]:
        volume = Number(t, 1.0) / u[0]
        velocity = u[along] * volume
        pressure = part * (u[3] - half * (u[1] * u[1] + u[2] * u[2]) * volume)
        sound = t.root(heat * pressure * volume)
        flux = [u[along], u[1] * velocity, u[2] * velocity, (u[3] + pressure) * velocity]
        flux[along] = flux[along] + pressure
        return flux, (velocity + sound).value

    def through(left: list[Number], right: list[Number], along: int) -> list[Number]:
        (a, fast), (b, faster) = flow(left, along), flow(right, along)
        speed = Number(t, max(fast, faster))
        return [half * (a[f] + b[f] - speed * (right[f] - left[f])) for f in range(4)]

    for _ in range(steps):
        sides = {
            (x, y, along): through(cells[(x - 2 + along) % nx, (y + 1 - along) % ny], u, along)
            for (x, y), u in cells.items()
            for along in (1, 2)
        }
        cells = {
            (x, y): [
                u[f]
                - ratio
                * (
                    (sides[(x + 1) % nx, y, 1][f] - sides[x, y, 1][f])
                    + (sides[x, (y + 1) % ny, 2][f] - sides[x, y, 2][f])
                )
                for f in range(4)
            ]
            for (x, y), u in cells.items()
        }


def sparse_factor(t: Tally, edge: int, leaf: int) -> None:
    """Return the dense matrix of a region that is not divided."""
    n = edge * edge
    assert n <= leaf
    conducts = t.ramp(2 * n)
    whole = [[Number(t, 9.0 * (i == j) + 0.1) for j in range(n)] for i in range(n)]
    factor = t.ramp(n * (n + 1) // 2)
    for at in range(2 * n):
        conducts[at]
    for k in range(n):
        whole[k][k] = t.root(whole[k][k])
        for i in range(k + 1, n):
            whole[i][k] = whole[i][k] / whole[k][k]
        for j in range(k + 1, n):
            for i in range(j, n):
                whole[i][j] = whole[i][j] - whole[i][k] * whole[j][k]
    for at, one in enumerate(whole[i][j] for i in range(n) for j in range(i + 1)):
        factor[at] = one


def state_vector(t: Tally, qubits: int) -> None:
    """Gate by gate; a phase is of a quarter of the amplitudes."""
    state = [(Number(t, 1.0), Number(t, 0.5)) for _ in range(1 << qubits)]
    gate = (Number(t, 0.6), Number(t, 0.8))

    def times(a: tuple[Number, Number], b: tuple[Number, Number]) -> tuple[Number, Number]:
        return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]

    for q in range(qubits):
        for k in range(1 << qubits):
            other = state[k ^ (1 << q)]
            (x, xi), (y, yi) = times(gate, state[k]), times(gate, other)
            x + y, xi + yi
    for q in range(qubits - 1):
        for k in range(1 << qubits):
            if k >> q & 3 == 3:
                state[k] = times(gate, state[k])


BYTES = ("moved_bytes", "moved_bytes_with_allocate")
WORK = ("flops", "special_functions")


@pytest.mark.parametrize(
    ("name", "variant", "algorithm", "data", "keys"),
    [
        ("horner", "horner", horner, {"n": 9, "degree": 5, "write": 0}, (*WORK, *BYTES)),
        ("horner", "horner", horner, {"n": 9, "degree": 5, "write": 1}, (*WORK, *BYTES)),
        ("dgemm", "naive", dgemm, {"m": 3, "n": 5, "k": 7}, (*WORK, *BYTES)),
        ("lu", "columns", lu, {"n": 9}, (*WORK, *BYTES)),
        # Its bytes are those of separate passes: a vector exceeds all caches.
        ("gram-schmidt", "modified", gram_schmidt, {"n": 11, "vectors": 4}, WORK),
        ("kmeans", None, kmeans, {"points": 13, "centres": 3}, (*WORK, *BYTES)),
        (
            "kmeans",
            "products-avx2",
            kmeans_products,
            {"points": 13, "centres": 3},
            (*WORK, *BYTES),
        ),
        # The bytes of both are those of passes over data beyond all caches.
        ("acoustic", None, acoustic, {"nx": 3, "ny": 2, "nz": 4, "steps": 2}, WORK),
        ("krylov", None, krylov, {"edge": 3, "steps": 4}, WORK),
        ("log-product", None, log_product, {"n": 17}, (*WORK, *BYTES)),
        ("bandwidth", None, bandwidth, {"n": 19, "operation": 0}, (*WORK, *BYTES)),
        ("traversal", None, traversal, {"n": 19, "update": 0}, BYTES),
        ("traversal", None, traversal, {"n": 19, "update": 1}, BYTES),
        ("integral-tiles", None, integral_tiles, {"n": 5}, (*WORK, *BYTES)),
        ("hyperbolic", None, hyperbolic, {"nx": 3, "ny": 4, "steps": 2}, WORK),
        ("sparse-factor", None, sparse_factor, {"edge": 3, "leaf": 9}, (*WORK, *BYTES)),
        ("state-vector", None, state_vector, {"qubits": 4}, WORK),
        ("bandwidth", None, bandwidth, {"n": 19, "operation": 1}, (*WORK, *BYTES)),
        ("bandwidth", None, bandwidth, {"n": 19, "operation": 2}, (*WORK, *BYTES)),
    ],
)
def test_costs_equal_counted_operations(
    assay_kernels: tuple[Path, ...],
    name: str,
    variant: str | None,
    algorithm: Callable[..., None],
    data: dict[str, int],
    keys: tuple[str, ...],
) -> None:
    """Count the operations of the first variant with counting numbers."""
    (program,) = (one for one in assay_kernels if one.name == f"assay-kernel-{name}")
    variants = described(program, *options(data))["variants"]
    result = next(one for one in variants if variant in (None, one["variant"]))
    if "unavailable" in result:
        pytest.skip(result["unavailable"])
    tally = Tally()
    algorithm(tally, **data)
    assert {key: result[key] for key in keys} == {key: getattr(tally, key) for key in keys}
