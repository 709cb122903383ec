// build: -O3 -march=x86-64-v4 -mprefer-vector-width=512
#include "kernels/deflate/batches_v4.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"
#include "kernels/deflate/write_v4.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> pairs_v4{
    .id = "pairs-avx512",
    .parent = "batches-avx512",
    .why = "words of sixteen tokens are looked up at once, and two are written as one",
    .isa = Isa::v4,
    .broken = false,
    .run = each<compress<InBatches<WideBatches>, Code::best, InPairs>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pairs_v4);

} // namespace assay::kernels
