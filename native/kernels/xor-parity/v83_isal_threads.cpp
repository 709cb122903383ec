// build: -O2 -fopenmp -fno-exceptions
#include "kernels/xor-parity/isal_strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = "lib-isal-threads",
    .parent = "lib-isal-pieces",
    .why = "xor_gen, all threads",
    .run = side_by_side<both<isal_at_once>>,
    .missing = isal_missing,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
