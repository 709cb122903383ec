// build: -O2
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> fixed{
    .id = "fixed",
    .parent = "stored",
    .why = "a match where the last place of the same hash has the same four bytes; the code that the format "
           "gives",
    .isa = Isa::any,
    .broken = false,
    .run = each<compress<Greedy, Code::fixed>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(fixed);

} // namespace assay::kernels
