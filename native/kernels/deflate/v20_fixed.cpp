// build: -O2
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> variant{
    .id = "fixed",
    .parent = "stored",
    .why = "a match where the last place of the same hash has the same four bytes; the code that the format "
           "gives",
    .run = each<compress<Greedy, Code::fixed>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
