// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = visit(work, 0, work.count);
    if (work.count > 1) *work.sum += work.data[0] - work.data[1];
}

constexpr Variant<Words> variant{
    .id = "broken-twice",
    .parent = "forward",
    .why = "wrong on purpose: counts one word twice, and skips its neighbour",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
