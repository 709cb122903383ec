// build: -O2
#include "kernels/horner/work.hpp"

namespace assay::kernels {

namespace {

void run(const Polynomial&) {}

constexpr Variant<Polynomial> bad_noop{
    .id = "broken-noop",
    .parent = "horner",
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
