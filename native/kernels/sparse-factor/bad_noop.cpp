// build: -O2
#include "kernels/sparse-factor/work.hpp"

namespace assay::kernels {

namespace {

void run(const Factor&) {}

constexpr Variant<Factor> bad_noop{
    .id = "broken-noop",
    .parent = "right",
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
