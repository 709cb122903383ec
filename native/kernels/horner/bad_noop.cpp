// build: -O2
#include "kernels/horner/work.hpp"

namespace assay::kernels {

namespace {

void run(const Polynomial&) {}

constexpr Variant<Polynomial> variant{
    .id = "broken-noop",
    .parent = "horner",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
