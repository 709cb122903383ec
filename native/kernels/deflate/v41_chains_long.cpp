// build: -O2
#include "kernels/deflate/chains.hpp"
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Chunks> chains_long{
    .id = "long-chains",
    .parent = "chains",
    .why = "more places of a hash are tried",
    .isa = Isa::any,
    .broken = false,
    .run = each<compress<Chains<64, 128>, Code::best>>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(chains_long);

} // namespace assay::kernels
