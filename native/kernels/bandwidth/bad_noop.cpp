// build: -O2
#include "kernels/bandwidth/work.hpp"

namespace assay::kernels {

namespace {

void run(const Streams&) {}

constexpr Variant<Streams> variant{
    .id = "broken-noop",
    .parent = "plain",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
