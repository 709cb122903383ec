// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product&) {}

constexpr Variant<Product> variant{
    .id = "broken-noop",
    .parent = "naive",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
