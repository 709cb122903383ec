// build: -O2
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t i = 0; i < b.particles; ++i) b.fx[i] = b.fy[i] = b.fz[i] = 0.0;
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) {
        const Image own = image(b, cell, cells_around / 2);
        for (std::size_t which = cells_around / 2; which + 1 < cells_around; ++which) {
            const Image other = image(b, cell, which);
            for (std::size_t i = own.first; i < own.last; ++i)
                for (std::size_t j = which == cells_around / 2 ? i + 1 : other.first; j < other.last; ++j)
                    pull(b, i, j, other);
        }
    }
}

constexpr Variant<Box> variant{
    .id = "broken-reach",
    .parent = "half",
    .why = "wrong on purpose: the diagonal cell behind is left out, which keeps forces in balance",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
