// build: -O2
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

std::size_t run(const Chunk& chunk, unsigned char* scratch) {
    Chunk shorter = chunk;
    if (shorter.bytes) --shorter.bytes;
    return compress<Greedy, Code::best>(shorter, scratch);
}

constexpr Variant<Chunks> bad_tail{
    .id = "broken-tail",
    .parent = "codes",
    .why = "wrong on purpose: the last byte of a chunk is left out",
    .isa = Isa::any,
    .broken = true,
    .run = each<run>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_tail);

} // namespace assay::kernels
