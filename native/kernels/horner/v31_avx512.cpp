// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/horner/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Polynomial> avx512{
    .id = "avx512",
    .parent = "avx2",
    .why = "eight elements in one instruction",
    .isa = Isa::v4,
    .broken = false,
    .run = serially<Eight, 1>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(avx512);

} // namespace assay::kernels
