// build: -O3 -ffp-contract=fast -fopenmp -fno-exceptions
// for: avx2 avx512
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("lib-sleef-threads"),
    .parent = ASSAY_ID("lib-sleef"),
    .why = "all threads",
    .isa = compiled_for,
    .run = threads_by_sleef<Simd, true>,
    .missing = no_sleef,
    .library = sleef_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
