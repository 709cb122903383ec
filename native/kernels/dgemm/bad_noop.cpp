// build: -O2
#include "kernels/dgemm/work.hpp"

namespace assay::kernels {

namespace {

void run(const Product&) {}

constexpr Variant<Product> bad_noop{
    .id = "broken-noop",
    .parent = "naive",
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
