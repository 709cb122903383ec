// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp -fno-exceptions
#include "kernels/masked-exp/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> threads_v4{
    .id = "threads-v4",
    .parent = "own-v4",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Avx512, false>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
