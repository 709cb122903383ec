// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = visit(work, 0, work.count);
}

constexpr Variant<Words> variant{
    .id = "forward",
    .parent = "",
    .why = "from the first word to the last",
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
