// build: -O2
#include "kernels/deflate/compress.hpp"
#include "kernels/deflate/each.hpp"

namespace assay::kernels {

namespace {

std::size_t run(const Chunk& chunk, unsigned char* scratch) {
    return compress<Greedy, Code::best>(chunk, scratch) - 1;
}

constexpr Variant<Chunks> bad_flush{
    .id = "broken-flush",
    .parent = "codes",
    .why = "wrong on purpose: bits of the last byte are not written out",
    .isa = Isa::any,
    .broken = true,
    .run = each<run>,
    .missing = only_compresses,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(bad_flush);

} // namespace assay::kernels
