// build: -O2
#include "kernels/xor-parity/isal_strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> isal_pairs{
    .id = "lib-isal-pairs",
    .parent = "words",
    .why = "xor_gen for each disk and the parity, as its users called it first",
    .isa = Isa::any,
    .broken = false,
    .run = one_after_the_other<isal_in_pairs>,
    .missing = isal_missing,
    .cost = nullptr,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(isal_pairs);

} // namespace assay::kernels
