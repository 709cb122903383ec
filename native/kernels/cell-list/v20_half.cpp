// build: -O3
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t i = 0; i < b.particles; ++i) b.fx[i] = b.fy[i] = b.fz[i] = 0.0;
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) cell_with_those_behind(b, cell);
}

constexpr Variant<Box> variant{
    .id = "half",
    .parent = "rows",
    .why = "each pair once, for both of its particles (Newton's third law): less work, and forces are read "
           "as well as written",
    .run = run,
    .cost = half_cost,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
