// build: -O3 -fopenmp
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

/// Process every second plane, beginning with `first`.
void planes(const Box& b, std::size_t first, std::size_t last) {
    const std::size_t plane = b.edge * b.edge;
#pragma omp for schedule(static)
    for (std::size_t z = first; z < last; z += 2)
        for (std::size_t cell = z * plane; cell < (z + 1) * plane; ++cell) cell_with_those_behind(b, cell);
}

/// Process the even planes, then the odd ones, since each also adds to the plane behind it. If the number of
/// planes is odd, the last plane is even and adds to the first one, which is even too: so it is processed
/// separately at the end.
void run(const Box& b) {
    const std::size_t even = b.edge / 2 * 2;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < b.particles; ++i) b.fx[i] = b.fy[i] = b.fz[i] = 0.0;
        planes(b, 0, even);
        planes(b, 1, even);
        planes(b, even, b.edge);
    }
}

constexpr Variant<Box> variant{
    .id = "threads-half",
    .parent = "half",
    .why = "planes of cells by threads, first the even and then the odd ones, so that no two threads add to "
           "the same cell: data move twice",
    .run = run,
    .cost = half_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
