// build: -O2
#include "kernels/xor-parity/isal_strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = "lib-isal",
    .parent = "lib-isal-pairs",
    .why = "xor_gen with an array of pointers to all disks",
    .run = one_after_the_other<isal_at_once>,
    .missing = isal_missing,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
