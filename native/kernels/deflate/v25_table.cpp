// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/inflate.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "inflate-table",
    .parent = "inflate-bits",
    .why = "a table gives the symbol of the next bits",
    .run = each<inflate<Careful>>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
