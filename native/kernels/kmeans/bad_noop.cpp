// build: -O2
#include "kernels/kmeans/work.hpp"

namespace assay::kernels {

namespace {

void run(const Assignment&) {}

constexpr Variant<Assignment> bad_noop{
    .id = "broken-noop",
    .parent = "fused-o2",
    .why = "wrong on purpose: does nothing",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_noop);

} // namespace assay::kernels
