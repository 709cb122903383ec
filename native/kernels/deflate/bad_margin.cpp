// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

struct NoTail {
    static void prepare(Literals&) {}

    static NextItem decode(HeldBits& bits, const Literals& by_bits, const Distances& far_by_bits,
                           Output& out) {
        const NextItem met = fast<false>(bits, by_bits, far_by_bits, out);
        return met == NextItem::margin ? NextItem::end : met;
    }
};

constexpr Variant<Chunks> variant{
    .id = "broken-margin",
    .parent = "inflate-wide",
    .why = "wrong on purpose: bytes too near to an end for whole words are left out",
    .broken = true,
    .run = each<inflate<NoTail>>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
