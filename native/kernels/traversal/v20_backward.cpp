// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    std::uint64_t sum = 0;
    for (std::size_t i = work.count; i-- > 0;) sum += work.update ? work.data[i] |= 1U : work.data[i];
    *work.sum = sum;
}

constexpr Variant<Words> variant{
    .id = "backward",
    .parent = "forward",
    .why = "from the last word to the first",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
