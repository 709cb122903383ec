// build: -O2
#include "kernels/cell-list/work.hpp"

namespace assay::kernels {

namespace {

void run(const Box&) {}

constexpr Variant<Box> bad_noop{
    .id = "broken-noop",
    .parent = "rows",
    .why = "wrong on purpose: nothing is done",
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
