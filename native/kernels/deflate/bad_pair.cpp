// build: -O2
#include "kernels/deflate/codec/each.hpp"
#include "kernels/deflate/codec/wide.hpp"

namespace assay::kernels {

namespace {

struct Half {
    static void prepare(Literals& by_bits) { pair(by_bits); }

    static NextItem decode(HeldBits& bits, const Literals& by_bits, const Distances& far_by_bits,
                           Output& out) {
        return Fast<false>::decode(bits, by_bits, far_by_bits, out);
    }
};

constexpr Variant<Chunks> variant{
    .id = "broken-pair",
    .parent = "inflate-pairs",
    .why = "wrong on purpose: writes one of two literals of an entry",
    .broken = true,
    .run = each<inflate<Half>>,
    .missing = only_inflates,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
