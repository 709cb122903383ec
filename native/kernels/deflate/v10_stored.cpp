// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/tokens.hpp"

namespace assay::kernels {

namespace {

std::size_t run(const Chunk& chunk, unsigned char*) {
    BitWriter out(chunk.to, chunk.room);
    return write_stored(out, chunk.from, chunk.bytes, true) ? out.finish() : failed;
}

constexpr Variant<Chunks> variant{
    .id = "stored",
    .parent = "",
    .why = "stored blocks",
    .run = each<run>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
