// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> own_v3{
    .id = "own-v3",
    .parent = "lib-mvec-v3",
    .why = "own functions, which stay inline: exp is a polynomial of degree 11",
    .isa = Isa::v3,
    .broken = false,
    .run = own<Avx2, false>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(own_v3);

} // namespace assay::kernels
