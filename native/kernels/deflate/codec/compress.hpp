#pragma once

#include "kernels/deflate/codec/greedy.hpp"

namespace assay::kernels {

namespace {

enum class Code { fixed, best };

/// Compress a chunk to one stream: search a block for matches, write it, and continue with the next block.
/// \tparam Search finds the tokens of a block.
/// \tparam Writing writes them.
template <class Search, Code code, class Writing = Singly>
std::size_t compress(const Chunk& chunk, unsigned char* memory) {
    Scratch& scratch = *reinterpret_cast<Scratch*>(memory);
    BitWriter out(chunk.to, chunk.room);
    Text text{chunk.from, chunk.bytes, 0};
    Search::begin(scratch);
    bool last;
    do {
        const std::size_t begin = text.at;
        const bool short_one = begin == 0 && text.n > 3 * first_block_bytes;
        const std::size_t end = minimum(text.n, begin + (short_one ? first_block_bytes : block_bytes));
        const auto n = static_cast<std::size_t>(Search::tokens(scratch, text, end) - scratch.tokens);
        last = text.at == text.n;
        bool written;
        if constexpr (code == Code::best) {
            written = write_best<Writing>(out, text.bytes + begin, text.at - begin, scratch.tokens, n, last);
        } else {
            Counts counts;
            count(scratch.tokens, n, counts);
            written = write_fixed<Writing>(out, scratch.tokens, n, bits_of(counts, fixed_codes()), last);
        }
        if (!written) return failed;
    } while (!last);
    return out.finish();
}

} // namespace

} // namespace assay::kernels
