// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> own_v4{
    .id = "own-v4",
    .parent = "lib-mvec-v4",
    .why =
        "own functions, which stay inline: exp has 16 powers in two registers and a polynomial of degree 6",
    .isa = Isa::v4,
    .broken = false,
    .run = own<Avx512, false>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(own_v4);

} // namespace assay::kernels
