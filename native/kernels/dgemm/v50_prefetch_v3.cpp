// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/dgemm/blocked.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Product> prefetch_v3{
    .id = "prefetch-v3",
    .parent = "registers-v3",
    .why = "software prefetch of both strips, and of C before the steps begin",
    .isa = Isa::v3,
    .broken = false,
    .run = serially<InRegisters<Four, 2, 6, 2, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(prefetch_v3);

} // namespace assay::kernels
