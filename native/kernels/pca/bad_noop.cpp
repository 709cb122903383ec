// build: -O2
#include "kernels/pca/work.hpp"

namespace assay::kernels {

namespace {

void run(const Components&) {}

constexpr Variant<Components> variant{
    .id = "broken-noop",
    .parent = "plain",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
