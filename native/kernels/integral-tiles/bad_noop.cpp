// build: -O2
#include "kernels/integral-tiles/work.hpp"

namespace assay::kernels {

namespace {

void run(const Contraction&) {}

constexpr Variant<Contraction> variant{
    .id = "broken-noop",
    .parent = "tiles",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
