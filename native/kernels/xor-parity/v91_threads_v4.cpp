// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -fopenmp -fno-exceptions
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> threads_v4{
    .id = "threads-avx512",
    .parent = "stream-avx512",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<both_past_caches<Zmm>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
