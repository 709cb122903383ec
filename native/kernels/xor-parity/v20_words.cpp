// build: -O2 -fno-tree-vectorize
#include "kernels/xor-parity/words.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> words{
    .id = "words",
    .parent = "bytes",
    .why = "eight bytes in one instruction",
    .isa = Isa::any,
    .broken = false,
    .run = one_after_the_other<words_in_pairs>,
    .missing = nullptr,
    .cost = nullptr,
    .library = nullptr,
};

} // namespace

ASSAY_VARIANT(words);

} // namespace assay::kernels
