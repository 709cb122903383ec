// build: -O2
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t i = 0; i < b.particles; ++i) b.fx[i] = b.fy[i] = b.fz[i] = 0.0;
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) {
        const Image own = image(b, cell, cells_around / 2);
        const double before = own.first < own.last ? b.fx[own.first] : 0.0;
        cell_with_those_behind(b, cell);
        if (cell == 0 && own.first < own.last) b.fx[own.first] = before;
    }
}

constexpr Variant<Box> variant{
    .id = "broken-reaction",
    .parent = "half",
    .why = "wrong on purpose: the first particle receives no reaction to its forces",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
