// build: -O2
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "codes",
    .parent = "fixed",
    .why = "dynamic codes for each block, from the frequencies of its symbols",
    .run = each<compress<Greedy, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
