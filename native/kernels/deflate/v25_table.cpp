// build: -O2
#include "kernels/deflate/each.hpp"
#include "kernels/deflate/inflate.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> table{
    .id = "inflate-table",
    .parent = "inflate-bits",
    .why = "a table tells the symbol that the next bits begin with",
    .isa = Isa::any,
    .broken = false,
    .run = each<inflate<Careful>>,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(table);

} // namespace assay::kernels
