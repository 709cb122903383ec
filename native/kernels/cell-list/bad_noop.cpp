// build: -O2
#include "kernels/cell-list/work.hpp"

namespace assay::kernels {

namespace {

void run(const Box&) {}

constexpr Variant<Box> variant{
    .id = "broken-noop",
    .parent = "rows",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
