// build: -O2
#include "kernels/acoustic/work.hpp"

namespace assay::kernels {

namespace {

void run(const Wave&) {}

constexpr Variant<Wave> variant{
    .id = "broken-noop",
    .parent = "rows",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
