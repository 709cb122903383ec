// build: -O2
#include "kernels/log-product/work.hpp"

namespace assay::kernels {

namespace {

void run(const Logarithms&) {}

constexpr Variant<Logarithms> bad_noop{
    .id = "broken-noop",
    .parent = "scalar-o3",
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
