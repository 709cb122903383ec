// build: -O2
#include "kernels/gram-schmidt/work.hpp"

namespace assay::kernels {

namespace {

void run(const Base&) {}

constexpr Variant<Base> variant{
    .id = "broken-noop",
    .parent = "modified",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
