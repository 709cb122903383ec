// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = by_columns(work, words_of(std::size_t{1} << 10U), words_of(std::size_t{72} << 10U));
}

constexpr Variant<Words> variant{
    .id = "records",
    .parent = "rows",
    .why = "records of 72 KiB, one field of 1 KiB after the other",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
