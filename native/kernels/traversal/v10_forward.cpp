// build: -O3
#include "kernels/traversal/visit.hpp"

namespace assay::kernels {

namespace {

void run(const Words& work) {
    *work.sum = visit(work, 0, work.count);
}

constexpr Variant<Words> forward{
    .id = "forward",
    .parent = "",
    .why = "from the first word to the last",
    .isa = Isa::any,
    .broken = false,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(forward);

} // namespace assay::kernels
