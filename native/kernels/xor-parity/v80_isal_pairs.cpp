// build: -O2
#include "kernels/xor-parity/isal_strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = "lib-isal-pairs",
    .parent = "words",
    .why = "xor_gen for each disk and the parity, as its first users called it",
    .run = one_after_the_other<isal_in_pairs>,
    .missing = isal_missing,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
