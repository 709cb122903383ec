// build: -O3
// for: avx512
#include "kernels/deflate/codec/batches_avx512.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/write_avx512.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("pairs"),
    .parent = ASSAY_ID("batches"),
    .why = "words of sixteen tokens are looked up at once, and two are written as one",
    .isa = compiled_for,
    .run = each<compress<InBatches<WideBatches>, Code::best, InPairs>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
