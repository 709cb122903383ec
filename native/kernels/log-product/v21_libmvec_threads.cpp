// build: -O3 -ffp-contract=fast -fopenmp -fno-exceptions
// for: avx2 avx512
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> variant{
    .id = ASSAY_ID("lib-mvec-threads"),
    .parent = ASSAY_ID("lib-mvec"),
    .why = "all threads",
    .isa = compiled_for,
    .run = threads_by_libmvec<Simd>,
    .missing = libmvec_missing,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(variant);

} // namespace assay::kernels
