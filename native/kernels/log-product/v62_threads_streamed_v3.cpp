// build: -O3 -march=x86-64-v3 -ffp-contract=fast -fopenmp -fno-exceptions
#include "kernels/log-product/vectors.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> threads_streamed_v3{
    .id = "threads-streamed-v3",
    .parent = "streamed-v3",
    .why = "all threads, past the caches",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<Avx2, true>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_streamed_v3);

} // namespace assay::kernels
