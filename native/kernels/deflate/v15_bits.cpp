// build: -O2
#include "kernels/deflate/each.hpp"
#include "kernels/deflate/plain.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> bits{
    .id = "inflate-bits",
    .parent = nullptr,
    .why = "a bit at a time until there is a word of the code, and a byte at a time",
    .isa = Isa::any,
    .broken = false,
    .run = each<inflate_plain>,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bits);

} // namespace assay::kernels
