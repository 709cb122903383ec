// build: -O2
#include "kernels/deflate/codec/chains.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "long-chains",
    .parent = "chains",
    .why = "more positions of a hash are tried",
    .run = each<compress<Chains<64, 128>, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
