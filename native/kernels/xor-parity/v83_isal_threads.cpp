// build: -O2 -fopenmp -fno-exceptions
#include "kernels/xor-parity/isal_strips.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Parity> isal_threads{
    .id = "lib-isal-threads",
    .parent = "lib-isal-pieces",
    .why = "xor_gen, all threads",
    .isa = Isa::any,
    .broken = false,
    .run = side_by_side<both<isal_at_once>>,
    .missing = isal_missing,
    .cost = nullptr,
    .library = isal_name,
};

} // namespace

ASSAY_VARIANT(isal_threads);

} // namespace assay::kernels
