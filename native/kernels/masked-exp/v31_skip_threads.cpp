// build: -O3 -ffp-contract=fast -fopenmp -fno-exceptions
// for: avx2 avx512
#include "kernels/masked-exp/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Masked> variant{
    .id = ASSAY_ID("lib-mvec-skip-threads"),
    .parent = ASSAY_ID("lib-mvec-skip"),
    .why = "all threads",
    .isa = compiled_for,
    .run = threads_by_libmvec<Simd, true>,
    .missing = no_libmvec,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
