// build: -O2
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

std::size_t run(const Chunk& chunk, unsigned char* scratch) {
    return compress<Greedy, Code::best>(chunk, scratch) - 1;
}

constexpr Variant<Chunks> variant{
    .id = "broken-flush",
    .parent = "codes",
    .why = "wrong on purpose: bits of the last byte are not written out",
    .broken = true,
    .run = each<run>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
