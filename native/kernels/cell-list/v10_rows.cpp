// build: -O3
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) cell_by_itself(b, cell);
}

constexpr Variant<Box> variant{
    .id = "rows",
    .parent = "",
    .why = "cell by cell in rows, each particle with all of its partners: each pair is computed twice",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
