// build: -O2
#include "kernels/deflate/each.hpp"
#include "kernels/deflate/wide.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> wide{
    .id = "inflate-wide",
    .parent = "inflate-table",
    .why = "no look at the ends where they are far, matches by words of 16 bytes",
    .isa = Isa::any,
    .broken = false,
    .run = each<inflate<Fast<false>>>,
    .missing = only_inflates,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(wide);

} // namespace assay::kernels
