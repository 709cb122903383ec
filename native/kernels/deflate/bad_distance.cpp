// build: -O2
#include "kernels/deflate/codec/compress.hpp"
#include "kernels/deflate/codec/each.hpp"

namespace assay::kernels {

namespace {

struct Shorter {
    static void begin(Scratch& scratch) { Greedy::begin(scratch); }

    static Token* tokens(Scratch& scratch, Text& text, std::size_t end) {
        Token* const last = Greedy::tokens(scratch, text, end);
        for (Token* token = scratch.tokens; token < last; ++token) *token &= ~(1U << (extra_shift + 9U));
        return last;
    }
};

constexpr Variant<Chunks> variant{
    .id = "broken-distance",
    .parent = "codes",
    .why = "wrong on purpose: the tenth extra bit of a distance is lost",
    .broken = true,
    .run = each<compress<Shorter, Code::best>>,
    .missing = only_compresses,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
