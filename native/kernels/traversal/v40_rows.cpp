// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = by_columns(work, words_of(std::size_t{64} << 10U), words_of(std::size_t{1} << 20U));
}

constexpr Variant<Words> rows{
    .id = "rows",
    .parent = "tiles",
    .why = "a matrix with rows of 1 MiB, in columns of 64 KiB",
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
