// build: -O2
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> codes{
    .id = "codes",
    .parent = "fixed",
    .why = "codes of its own for each block, from how often each symbol occurs there",
    .isa = Isa::any,
    .broken = false,
    .run = each<compress<Greedy, Code::best>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(codes);

} // namespace assay::kernels
