// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/plain.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "inflate-bits",
    .parent = "",
    .why = "a bit at a time until a word of the code is complete, and a byte at a time",
    .run = each<inflate_plain>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
