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
    .why = "wrong on purpose: one word is taken twice, and its neighbour not at all",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
