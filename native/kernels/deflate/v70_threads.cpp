// build: -O3 -fopenmp
// for: avx2
#include "kernels/deflate/codec/batches.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("threads"),
    .parent = ASSAY_ID("batches"),
    .why = "chunks shared among all threads",
    .isa = compiled_for,
    .run = side_by_side<compress<InBatches<Batches>, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
