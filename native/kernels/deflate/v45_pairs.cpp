// build: -O2
#include "kernels/deflate/each.hpp"
#include "kernels/deflate/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> pairs{
    .id = "inflate-pairs",
    .parent = "inflate-wide",
    .why = "one entry of the table holds two literals",
    .isa = Isa::any,
    .broken = false,
    .run = each<inflate<Fast<true>>>,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(pairs);

} // namespace assay::kernels
