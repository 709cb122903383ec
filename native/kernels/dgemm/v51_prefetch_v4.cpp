// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> prefetch_v4{
    .id = "prefetch-v4",
    .parent = "registers-v4",
    .why = "software prefetch of both strips, and of C before the steps begin",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<InRegisters<Eight, 1, 28, 7, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(prefetch_v4);

} // namespace assay::kernels
