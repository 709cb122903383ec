// build: -O2
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks& w) {
    Chunks fewer = w;
    --fewer.count;
    each<compress<Greedy, Code::best>>(fewer);
}

constexpr Variant<Chunks> variant{
    .id = "broken-last-chunk",
    .parent = "codes",
    .why = "wrong on purpose: the last chunk is left out",
    .broken = true,
    .run = run,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
