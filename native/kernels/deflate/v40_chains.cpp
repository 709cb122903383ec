// build: -O2
#include "kernels/deflate/codec/chains.hpp"
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "chains",
    .parent = "codes",
    .why = "all positions of a hash are linked; the longest match of some is used unless the next byte "
           "begins a longer one",
    .run = each<compress<Chains<16, 32>, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
