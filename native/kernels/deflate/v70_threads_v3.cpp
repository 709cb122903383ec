// build: -O3 -march=x86-64-v3 -fopenmp
#include "kernels/deflate/batches.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> threads_v3{
    .id = "threads-avx2",
    .parent = "batches-avx2",
    .why = "chunks shared among all threads",
    .isa = Isa::v3,
    .broken = false,
    .run = side_by_side<compress<InBatches<Batches>, Code::best>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v3);

} // namespace assay::kernels
