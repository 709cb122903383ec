// build: -O3
// for: avx2
#include "kernels/deflate/codec/batches.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = ASSAY_ID("batches"),
    .parent = "codes",
    .why = "64 positions are compared without a branch, and a match is used unless the next position has a "
           "longer one",
    .isa = compiled_for,
    .run = each<compress<InBatches<Batches>, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
