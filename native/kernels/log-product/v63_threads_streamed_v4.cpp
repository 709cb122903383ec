// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast -fopenmp -fno-exceptions
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> threads_streamed_v4{
    .id = "threads-streamed-v4",
    .parent = "streamed-v4",
    .why = "all threads, past the caches",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<Avx512, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_streamed_v4);

} // namespace assay::kernels
