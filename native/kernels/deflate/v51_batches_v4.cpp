// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/deflate/batches_v4.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> batches_v4{
    .id = "batches-avx512",
    .parent = "batches-avx2",
    .why = "sixteen places in a vector, whose tokens are made at once and then picked",
    .isa = Isa::v4,
    .broken = false,
    .run = each<compress<InBatches<WideBatches>, Code::best>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(batches_v4);

} // namespace assay::kernels
