// build: -O2
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "fixed",
    .parent = "stored",
    .why =
        "a match if the last position of the same hash has the same four bytes; the fixed code of the format",
    .run = each<compress<Greedy, Code::fixed>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
