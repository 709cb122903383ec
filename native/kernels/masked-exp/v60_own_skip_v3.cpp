// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> own_skip_v3{
    .id = "own-skip-v3",
    .parent = "own-v3",
    .why = "nothing is computed where the mask is empty",
    .isa = Isa::v3,
    .broken = false,
    .run = own<Avx2, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(own_skip_v3);

} // namespace assay::kernels
