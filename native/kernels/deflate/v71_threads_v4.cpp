// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512 -fopenmp
#include "kernels/deflate/batches_v4.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/threads.hpp"
#include "kernels/deflate/write_v4.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> threads_v4{
    .id = "threads-avx512",
    .parent = "pairs-avx512",
    .why = "chunks shared among all threads",
    .isa = Isa::v4,
    .broken = false,
    .run = side_by_side<compress<InBatches<WideBatches>, Code::best, InPairs>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(threads_v4);

} // namespace assay::kernels
