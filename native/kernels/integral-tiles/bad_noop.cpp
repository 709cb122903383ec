// build: -O2
#include "kernels/integral-tiles/work.hpp"

namespace assay::kernels {

namespace {

void run(const Contraction&) {}

constexpr Variant<Contraction> bad_noop{
    .id = "broken-noop",
    .parent = "tiles",
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
