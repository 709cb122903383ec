// build: -O2
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t i = 0; i < b.particles; ++i) b.fx[i] = b.fy[i] = b.fz[i] = 0.0;
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) {
        const Image own = image(b, cell, cells_around / 2);
        for (std::size_t which = cells_around / 2; which < cells_around; ++which) {
            Image other = image(b, cell, which);
            other.x = other.y = other.z = 0.0;
            for (std::size_t i = own.first; i < own.last; ++i)
                for (std::size_t j = which == cells_around / 2 ? i + 1 : other.first; j < other.last; ++j)
                    pull(b, i, j, other);
        }
    }
}

constexpr Variant<Box> variant{
    .id = "broken-border",
    .parent = "half",
    .why = "wrong on purpose: particles beyond the border of the box are not shifted",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
