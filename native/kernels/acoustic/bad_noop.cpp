// build: -O2
#include "kernels/acoustic/work.hpp"

namespace assay::kernels {

namespace {

void run(const Wave&) {}

constexpr Variant<Wave> bad_noop{
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
