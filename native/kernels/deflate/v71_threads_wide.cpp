// build: -O3 -fopenmp
// for: avx512
#include "kernels/deflate/codec/batches_avx512.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/threads.hpp"
#include "kernels/deflate/codec/write_avx512.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("pairs"),
    .why = "chunks shared among all threads",
    .isa = compiled_for,
    .run = side_by_side<compress<InBatches<WideBatches>, Code::best, InPairs>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
