// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "inflate-pairs",
    .parent = "inflate-wide",
    .why = "one entry of the table holds two literals",
    .run = each<inflate<Fast<true>>>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
