// build: -O2
#include "kernels/lu/work.hpp"

namespace assay::kernels {

namespace {

void run(const Matrix&) {}

constexpr Variant<Matrix> variant{
    .id = "broken-noop",
    .parent = "columns",
    .why = "wrong on purpose: does nothing",
    .broken = true,
    .run = run,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
