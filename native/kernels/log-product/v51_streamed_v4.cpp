// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> streamed_v4{
    .id = "streamed-v4",
    .parent = "own-v4",
    .why = "results go past the caches, so that their lines are not read first",
    .isa = Isa::v4,
    .broken = false,
    .run = own<Avx512, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(streamed_v4);

} // namespace assay::kernels
