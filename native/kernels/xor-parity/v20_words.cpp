// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/words.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = "words",
    .parent = "bytes",
    .why = "eight bytes in one instruction",
    .run = one_after_the_other<words_in_pairs>,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
