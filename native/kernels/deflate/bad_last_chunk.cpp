// build: -O2
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

void run(const Chunks& w) {
    Chunks fewer = w;
    --fewer.count;
    each<compress<Greedy, Code::best>>(fewer);
}

constexpr Variant<Chunks> bad_last_chunk{
    .id = "broken-last-chunk",
    .parent = "codes",
    .why = "wrong on purpose: the last chunk is left out",
    .isa = Isa::any,
    .broken = true,
    .run = run,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_last_chunk);

} // namespace assay::kernels
