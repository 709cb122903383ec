// build: -O2
#include "kernels/masked-exp/work.hpp"

namespace assay::kernels {

namespace {

void run(const Masked&) {}

constexpr Variant<Masked> variant{
    .id = "broken-noop",
    .parent = "scalar",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
