// build: -O2
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

std::size_t run(const Chunk& chunk, unsigned char* scratch) {
    Chunk shorter = chunk;
    if (shorter.bytes) --shorter.bytes;
    return compress<Greedy, Code::best>(shorter, scratch);
}

constexpr Variant<Chunks> variant{
    .id = "broken-tail",
    .parent = "codes",
    .why = "wrong on purpose: the last byte of a chunk is left out",
    .broken = true,
    .run = each<run>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
