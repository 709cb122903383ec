// build: -O2
#include "kernels/masked-exp/work.hpp"

namespace assay::kernels {

namespace {

void run(const Masked&) {}

constexpr Variant<Masked> bad_noop{
    .id = "broken-noop",
    .parent = "scalar",
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
