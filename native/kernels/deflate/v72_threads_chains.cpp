// build: -O2 -fopenmp
#include "kernels/deflate/codec/chains.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/threads.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "threads-chains",
    .parent = "long-chains",
    .why = "chunks shared among all threads",
    .run = side_by_side<compress<Chains<64, 128>, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
