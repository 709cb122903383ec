// build: -O3
#include "kernels/cell-list/forces.hpp"

namespace assay::kernels {

namespace {

void run(const Box& b) {
    for (std::size_t cell = 0; cell < cells_of(b); ++cell) cell_by_itself(b, cell);
}

constexpr Variant<Box> rows{
    .id = "rows",
    .parent = nullptr,
    .why = "cell by cell in rows, each particle with all of its partners: a pair is worked out twice",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(rows);

} // namespace assay::kernels
