// build: -O3 -march=x86-64-v3 -ffp-contract=fast
#include "kernels/log-product/calls.hpp"

namespace assay::kernels {

namespace {

constexpr Variant<Logarithms> lib_mvec_v3{
    .id = "lib-mvec-v3",
    .parent = "scalar-o3",
    .why = "four elements by the C library's vector function, which -ffast-math would call",
    .isa = Isa::v3,
    .broken = false,
    .run = by_libmvec<Avx2>,
    .missing = libmvec_missing,
    .cost = nullptr,
    .library = libmvec_version,
};

} // namespace

ASSAY_VARIANT(lib_mvec_v3);

} // namespace assay::kernels
