// build: -O3 -march=x86-64-v3
#include "kernels/deflate/batches.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> batches_v3{
    .id = "batches-avx2",
    .parent = "codes",
    .why =
        "64 places are compared without a branch, and a match is taken where the next place has none longer",
    .isa = Isa::v3,
    .broken = false,
    .run = each<compress<InBatches<Batches>, Code::best>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(batches_v3);

} // namespace assay::kernels
