// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = by_columns(work, words_of(std::size_t{2} << 20U), words_of(std::size_t{16} << 20U));
}

constexpr Variant<Words> variant{
    .id = "tiles",
    .parent = "forward",
    .why = "a matrix with rows of 16 MiB, in columns of 2 MiB",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
