// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> own_skip_v4{
    .id = "own-skip-v4",
    .parent = "own-v4",
    .why = "nothing is computed where the mask is empty",
    .isa = Isa::v4,
    .broken = false,
    .run = own<Avx512, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(own_skip_v4);

} // namespace assay::kernels
