// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = by_columns(work, words_of(std::size_t{64} << 10U), words_of(std::size_t{1} << 20U));
}

constexpr Variant<Words> variant{
    .id = "rows",
    .parent = "tiles",
    .why = "a matrix with rows of 1 MiB, in columns of 64 KiB",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
