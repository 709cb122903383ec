// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> streamed_v3{
    .id = "streamed-v3",
    .parent = "own-v3",
    .why = "results go past the caches, so that their lines are not read first",
    .isa = Isa::v3,
    .broken = false,
    .run = own<Avx2, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(streamed_v3);

} // namespace assay::kernels
