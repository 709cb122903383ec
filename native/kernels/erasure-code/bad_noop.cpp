// build: -O2
#include "kernels/erasure-code/work.hpp"

namespace assay::kernels {

namespace {

void run(const Code&) {}

constexpr Variant<Code> bad_noop{
    .id = "broken-noop",
    .parent = "logarithms",
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
