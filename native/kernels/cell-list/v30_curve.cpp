// build: -O3
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t k = 0; k < cells_of(b); ++k) cell_by_itself(b, static_cast<std::size_t>(b.along[k]));
}

constexpr Variant<Box> variant{
    .id = "curve",
    .parent = "rows",
    .why = "cells along a curve that fills the box: the next cell is near in all three directions",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
