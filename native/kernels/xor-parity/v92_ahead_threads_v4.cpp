// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -fopenmp -fno-exceptions
#include "kernels/xor-parity/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> ahead_threads_v4{
    .id = "ahead-threads-avx512",
    .parent = "ahead-avx512",
    .why = "all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<squares<Zmm, true>>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(ahead_threads_v4);

} // namespace assay::kernels
