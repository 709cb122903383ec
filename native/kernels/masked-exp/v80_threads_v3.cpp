// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp -fno-exceptions
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> threads_v3{
    .id = "threads-v3",
    .parent = "own-v3",
    .why = "all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<Avx2, false>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
