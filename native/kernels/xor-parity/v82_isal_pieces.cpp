// build: -O2
#include "kernels/xor-parity/isal_strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> variant{
    .id = "lib-isal-pieces",
    .parent = "lib-isal",
    .why = "xor_gen for both parities of a piece while it is in the second-level cache",
    .run = piece_by_piece<both<isal_at_once>>,
    .missing = isal_missing,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
