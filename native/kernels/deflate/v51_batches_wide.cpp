// build: -O3
// for: avx512
#include "kernels/deflate/codec/batches_avx512.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("batches"),
    .parent = "batches-avx2",
    .why = "sixteen positions in a vector, whose tokens are computed at once and then selected",
    .isa = compiled_for,
    .run = each<compress<InBatches<WideBatches>, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
