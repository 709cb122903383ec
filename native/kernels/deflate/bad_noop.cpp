// build: -O2
#include "kernels/deflate/codec/work.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks&) {}

constexpr Variant<Chunks> variant{
    .id = "broken-noop",
    .parent = "stored",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
