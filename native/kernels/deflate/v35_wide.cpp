// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "inflate-wide",
    .parent = "inflate-table",
    .why = "no bounds checks far from the ends, matches by words of 16 bytes",
    .run = each<inflate<Fast<false>>>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
